"""Files that the API writes, one at a time."""
