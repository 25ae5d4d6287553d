"""Tests of the sources of imports."""
