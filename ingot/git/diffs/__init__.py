"""Diffs, patches, line positions and line statistics."""
