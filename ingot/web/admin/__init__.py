"""Administration pages."""
