"""What people say about issues, merge requests, snippets and commits: notes, emoji, and who follows them."""
