"""Projects and the permissions on them."""
