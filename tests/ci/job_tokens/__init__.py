"""Tests of job tokens."""
