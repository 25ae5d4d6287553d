"""Signing in and out in a browser, passwords forgotten and found, tries that are throttled."""
