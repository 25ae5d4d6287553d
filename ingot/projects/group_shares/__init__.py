"""Groups that were invited into other groups."""
