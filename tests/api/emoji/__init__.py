"""Tests of award emoji."""
