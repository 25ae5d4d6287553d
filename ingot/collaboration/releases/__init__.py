"""Releases: what is told about tags, with links to what can be downloaded."""
