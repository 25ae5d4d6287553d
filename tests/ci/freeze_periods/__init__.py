"""Freeze periods."""
