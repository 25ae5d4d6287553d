"""Tests of applications over the API."""
