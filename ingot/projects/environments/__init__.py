"""Environments of projects and deployments to them."""
