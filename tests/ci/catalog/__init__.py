"""Tests of the CI/CD catalog."""
