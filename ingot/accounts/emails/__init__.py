"""Further e-mail addresses of users."""
