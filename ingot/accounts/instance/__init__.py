"""The instance: settings, version, broadcast messages and rate limits."""
