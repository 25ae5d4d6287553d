"""Badges: small linked images on a project or on all projects of a group."""
