"""Wikis: pages of a project, stored as files in a separate repository."""
