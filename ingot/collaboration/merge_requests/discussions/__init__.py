"""What people say about merge requests: notes, discussions on lines, emoji, approvals, and what became of each."""
