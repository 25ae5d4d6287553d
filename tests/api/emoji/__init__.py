"""Award emoji through the API."""
