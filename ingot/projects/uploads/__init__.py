"""Files attached to texts."""
