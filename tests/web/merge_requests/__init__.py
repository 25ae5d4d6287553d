"""Tests of the merge request pages."""
