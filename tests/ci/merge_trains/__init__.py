"""Merge trains."""
