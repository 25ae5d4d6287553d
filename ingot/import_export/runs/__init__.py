"""Imports as resumable background jobs, with their plan, progress and report."""
