"""Hooks of the whole instance, for administrators."""
