"""Webhook pages of projects, groups and the instance, with their delivery log."""
