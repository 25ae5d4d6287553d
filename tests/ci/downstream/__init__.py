"""Pipelines that jobs start."""
