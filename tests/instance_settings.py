"""Endpoint of the instance settings."""

PATH = "/application/settings"
