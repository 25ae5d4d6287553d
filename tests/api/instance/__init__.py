"""Tests of the instance: version, settings, broadcast messages."""
