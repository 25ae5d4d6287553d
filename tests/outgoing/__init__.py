"""Tests of outgoing connections."""
