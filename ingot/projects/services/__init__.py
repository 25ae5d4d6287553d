"""Integrations of a project with external services, described by a registry, including external issue trackers."""
