"""Validation of configurations in projects."""
