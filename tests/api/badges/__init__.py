"""Tests of badges."""
