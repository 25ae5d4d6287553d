"""Merging: whether it can be done, doing it now or when the pipeline succeeds, and what follows from it."""
