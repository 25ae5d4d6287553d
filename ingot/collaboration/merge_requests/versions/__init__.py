"""Diff versions of merge requests: one for each push to the source, which stays readable."""
