"""Events: a package emits a fact, packages above it subscribe, and all run in the same transaction.

See docs/subsystems/events-and-jobs.md.
"""
