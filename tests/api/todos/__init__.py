"""Todos over the API."""
