"""Permissions of every writing endpoint, with valid bodies and existing objects."""
