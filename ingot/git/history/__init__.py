"""Commits and their order: logs, blame, merge bases, tags, last commits of paths."""
