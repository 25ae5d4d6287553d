"""Statuses of commits and pipelines."""
