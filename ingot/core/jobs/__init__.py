"""Job queue in the database, and the worker that runs the jobs."""
