"""Repositories that are fetched from elsewhere, by a job."""
