"""Tests of the git layer."""
