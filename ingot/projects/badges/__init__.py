"""Badges: small linked pictures on a project or on all projects of a group."""
