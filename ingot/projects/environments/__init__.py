"""Environments of projects, and what was deployed to them."""
