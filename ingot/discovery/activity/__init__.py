"""What people did, as others may see it."""
