"""Webhooks and service integrations: events delivered to external systems."""
