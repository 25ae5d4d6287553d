"""Creating commits from file actions, cherry-picks and reverts."""
