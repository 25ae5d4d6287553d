"""Continuous integration: pipelines, jobs, runners, artifacts, and the registries of packages and images."""
