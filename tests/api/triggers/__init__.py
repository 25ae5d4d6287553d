"""Tests of pipeline triggers."""
