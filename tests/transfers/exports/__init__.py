"""Tests of exports and of the archives that they write."""
