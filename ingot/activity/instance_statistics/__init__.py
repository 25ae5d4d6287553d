"""Counts of the instance, of its job queue and of the open work of a user."""
