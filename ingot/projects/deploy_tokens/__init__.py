"""Tokens that belong to a project or group rather than to a person, for machines that fetch from it."""
