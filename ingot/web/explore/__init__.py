"""The first page, and the ways to find projects, groups and people."""
