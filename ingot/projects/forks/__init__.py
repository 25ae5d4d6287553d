"""Forks, and what they were forked from."""
