"""Avatars of users, groups and projects, stored in the database."""
