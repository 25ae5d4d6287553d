"""Memberships in groups and projects, and access requests."""
