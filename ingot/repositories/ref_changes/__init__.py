"""Changes of refs: permission check, update and record."""
