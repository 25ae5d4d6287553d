"""Tests of the runner ``ingot runner``."""
