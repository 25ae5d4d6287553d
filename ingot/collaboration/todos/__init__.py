"""What each user has to look at: because it was given to them, because they were named, or because they said so."""
