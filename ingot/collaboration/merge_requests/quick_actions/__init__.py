"""What commands in descriptions and notes do to merge requests."""
