"""Boards of projects and groups: issues in columns, by label."""
