"""Merge trains: merge requests are merged one after the other, each tested with those before it."""
