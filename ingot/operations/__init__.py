"""Startup, process supervision, backup and restore, doctor, and demo data."""
