"""Tests of access requests."""
