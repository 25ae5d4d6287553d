"""Packages and their files."""
