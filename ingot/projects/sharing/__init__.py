"""Project members, shares with groups, and stars."""
