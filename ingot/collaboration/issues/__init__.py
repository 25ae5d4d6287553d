"""Issues: creating, editing, moving, listing and closing them."""
