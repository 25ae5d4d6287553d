"""Tests: through the doors that we promise to keep."""
