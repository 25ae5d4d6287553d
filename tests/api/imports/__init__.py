"""Tests of imports from other servers."""
