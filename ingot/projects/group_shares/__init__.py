"""Invitations of groups into other groups."""
