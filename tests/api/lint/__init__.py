"""Tests of the CI lint."""
