"""Creating, updating and deleting single files."""
