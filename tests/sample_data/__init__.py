"""Sample data for every page, and the addresses of all pages."""
