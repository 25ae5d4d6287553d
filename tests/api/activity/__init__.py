"""What people did, over the API."""
