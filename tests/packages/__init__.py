"""Packages and container images."""
