"""HTML pages for browsers; they call the same services as the API."""
