"""Timelogs: the entries of which the time spent on an issue or merge request consists."""
