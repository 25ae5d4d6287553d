"""Feature flags, set by administrators."""
