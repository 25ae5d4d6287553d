"""Backups in one file, independent of the database engine."""
