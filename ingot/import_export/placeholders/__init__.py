"""Placeholder users of imports, and their assignment to real users."""
