"""Changelogs: release notes from the trailers of commits."""
