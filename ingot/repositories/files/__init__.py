"""Files of a repository over the API."""
