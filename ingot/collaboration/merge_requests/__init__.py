"""Merge requests: creating, editing, reviewing, listing and merging them."""
