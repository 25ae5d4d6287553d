"""Invented people for an instance that somebody wants to look at."""
