"""Tests of merge requests."""
