"""Search, activity feed, notifications, and markdown with references."""
