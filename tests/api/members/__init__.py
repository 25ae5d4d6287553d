"""Tests of members."""
