"""Tests of custom attributes."""
