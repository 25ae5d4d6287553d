"""Tests of markdown rendering."""
