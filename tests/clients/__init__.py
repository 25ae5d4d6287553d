"""The clients that people use, unmodified, against our server."""
