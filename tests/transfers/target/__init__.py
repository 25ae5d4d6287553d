"""Tests of the storage of imported records."""
