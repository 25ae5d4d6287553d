"""Secondary email addresses of users."""
