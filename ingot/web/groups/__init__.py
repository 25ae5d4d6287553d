"""Groups, their members and settings."""
