"""Members of projects, requests to become one, and who starred what."""
