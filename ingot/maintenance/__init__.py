"""Maintenance of an instance: backup and restore, checks by the doctor, demo data."""
