"""Tokens that give machines read access to a project or group, independent of a user."""
