"""Snippets: small files that people share, in a project or of their own."""
