"""Validation of CI configuration before it is committed."""
