"""Pipelines with jobs: creation, the state machine of their jobs, and their endpoints."""
