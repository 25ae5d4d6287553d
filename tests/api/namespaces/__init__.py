"""Namespaces over the API."""
