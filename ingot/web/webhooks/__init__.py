"""Hooks of projects, groups and the instance, and what they sent."""
