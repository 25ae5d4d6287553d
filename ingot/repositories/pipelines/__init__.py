"""Pipelines of commits, and the statuses that they are made of."""
