"""Award emoji on issues, merge requests, snippets and notes."""
