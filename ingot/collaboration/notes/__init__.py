"""Notes and discussions on commits, issues, merge requests and snippets."""
