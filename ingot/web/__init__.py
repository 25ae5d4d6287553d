"""Pages for people in a browser; they call the same services as the API."""
