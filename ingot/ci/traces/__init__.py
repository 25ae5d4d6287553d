"""Logs of jobs."""
