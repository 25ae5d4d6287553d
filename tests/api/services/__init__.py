"""Tests of services (integrations with external systems)."""
