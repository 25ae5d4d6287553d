"""Filters of lists of issues and merge requests that users save under names."""
