"""Tests of the server for tests of other programs."""
