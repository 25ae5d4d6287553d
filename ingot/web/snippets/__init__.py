"""Pages of snippets."""
