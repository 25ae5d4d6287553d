"""What people say about issues: notes, discussions, emoji, and the record of what became of each."""
