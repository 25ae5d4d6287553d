"""Commits of a repository."""
