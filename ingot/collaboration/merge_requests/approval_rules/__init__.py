"""Approval rules: rows, and the state of the rules of merge requests."""
