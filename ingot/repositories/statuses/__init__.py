"""Statuses of commits and pipelines, over the API."""
