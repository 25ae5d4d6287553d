"""Protocol between runners and the server."""
