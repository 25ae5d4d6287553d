"""Feature flags that administrators set."""
