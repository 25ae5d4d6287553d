"""Tests of Git LFS."""
