"""Memberships in groups and projects, and requests for them."""
