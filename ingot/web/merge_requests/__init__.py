"""Merge requests: create, review and merge."""
