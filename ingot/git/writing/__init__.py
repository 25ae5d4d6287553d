"""New objects and ref updates: commits, merges, cherry-picks."""
