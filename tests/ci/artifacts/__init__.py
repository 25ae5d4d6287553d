"""Tests of job artifacts."""
