"""Tests of the job queue and its workers, with a real database and real processes."""
