"""Files of a repository."""
