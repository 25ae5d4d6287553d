"""Secure files."""
