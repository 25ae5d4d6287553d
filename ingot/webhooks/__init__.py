"""Webhooks of projects, groups and the instance.

See docs/subsystems/webhooks.md.
"""
