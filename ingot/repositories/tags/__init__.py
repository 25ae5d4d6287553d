"""Tags over the API, and what is told about them as releases."""
