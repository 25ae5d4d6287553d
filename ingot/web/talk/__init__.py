"""Snippets and wikis."""
