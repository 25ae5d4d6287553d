"""Merge requests: what somebody would like to bring into a branch, how it is looked at, and what becomes of it."""
