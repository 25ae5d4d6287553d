"""Mutations. Each calls the REST endpoint of its action, which validates, checks the permission and changes state."""
