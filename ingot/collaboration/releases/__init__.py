"""Releases of tags, with release notes, links to assets and milestones."""
