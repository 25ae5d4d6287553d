"""Tests of CI variables."""
