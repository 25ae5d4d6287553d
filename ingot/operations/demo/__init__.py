"""Invented people, and what they work on, for an instance that somebody wants to look at."""
