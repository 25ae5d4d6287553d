"""Protected branches of groups."""
