"""Freeze periods: recurring times in which a project should not be deployed."""
