"""Tests of runners."""
