"""Secure files: keys, certificates and profiles that jobs need and that are not part of the repository."""
