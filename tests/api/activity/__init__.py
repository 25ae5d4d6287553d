"""Tests of activity events."""
