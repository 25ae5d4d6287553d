"""Quick actions in the descriptions and notes of merge requests."""
