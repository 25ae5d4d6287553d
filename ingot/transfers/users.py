"""Mapping of users of a source to users of this instance, and placeholder users."""
