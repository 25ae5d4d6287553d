"""Tests of environments and deployments."""
