"""Tests of counts, snapshots and locations."""
