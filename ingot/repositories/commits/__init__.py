"""Commits: listed, read, compared, made."""
