"""Stacks of merge requests: each targets the source branch of the one below it."""
