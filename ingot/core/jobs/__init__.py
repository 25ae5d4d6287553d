"""Job queue in the database, and the worker that runs the jobs.

See docs/subsystems/events-and-jobs.md.
"""
