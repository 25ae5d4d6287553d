"""Merge requests from opening to merging."""
