"""Pipelines that are started by triggers."""
