"""Runners and pipeline triggers."""
