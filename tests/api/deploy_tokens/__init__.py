"""Tests of deploy tokens."""
