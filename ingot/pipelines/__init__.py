"""Pipelines of commits and the statuses that they consist of."""
