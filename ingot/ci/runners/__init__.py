"""Runners: registration, administration, and the version of the queue that they poll."""
