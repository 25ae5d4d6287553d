"""Namespaces: the paths that users and groups own, and their hierarchy."""
