"""Number of fetches of projects by day."""
