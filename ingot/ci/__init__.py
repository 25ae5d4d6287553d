"""Continuous integration: configuration, pipelines, jobs, runners, artifacts, schedules and triggers.

See docs/subsystems/ci.md.
"""
