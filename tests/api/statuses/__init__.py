"""Statuses of commits, and the pipelines that they make up."""
