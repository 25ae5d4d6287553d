"""Tests of wikis."""
