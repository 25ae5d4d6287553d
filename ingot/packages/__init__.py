"""Packages and container images of projects, and the protocols of their clients."""
