"""Bare repositories on disk: the only package that opens one; it knows nothing of users, rows or requests."""
