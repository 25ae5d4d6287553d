"""Pipelines: creation, progress and effects."""
