"""Snippets: small files shared in a project or as personal snippets of a user."""
