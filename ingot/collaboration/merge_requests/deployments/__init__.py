"""Merge requests that deployments contain for the first time."""
