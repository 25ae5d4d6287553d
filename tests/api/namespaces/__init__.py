"""Tests of namespaces."""
