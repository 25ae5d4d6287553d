"""Webhooks of projects, groups and the instance."""
