"""Merging merge requests over the API."""
