"""A project's own pages: its home, making one, its members and settings."""
