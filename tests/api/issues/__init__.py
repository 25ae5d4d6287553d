"""Tests of issues."""
