"""The queue in our own database, and the worker that empties it."""
