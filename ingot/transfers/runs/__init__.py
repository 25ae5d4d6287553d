"""Imports as resumable jobs, with their plan, progress and report."""
