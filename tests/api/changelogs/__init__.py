"""Changelogs."""
