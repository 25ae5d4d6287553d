"""Branches over the API."""
