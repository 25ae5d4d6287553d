"""Tests of the CI pages."""
