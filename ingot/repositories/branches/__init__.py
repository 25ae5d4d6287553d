"""Branches of a repository."""
