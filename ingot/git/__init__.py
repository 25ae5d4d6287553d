"""Access to bare repositories on disk. The only package that opens them; independent of users, rows and requests."""
