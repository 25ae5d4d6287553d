"""Tests of OAuth applications."""
