"""Invitations of email addresses into groups and projects."""
