"""Webhook payloads, one document per event."""
