"""Packages of Python, for pip and twine."""
