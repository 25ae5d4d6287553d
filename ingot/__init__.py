"""Ingot: a git forge that speaks the v4 REST API."""
