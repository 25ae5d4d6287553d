"""Activity feed: events of users and projects."""
