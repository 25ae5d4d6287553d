"""Tests of snippets."""
