"""Looks an instance over: what is wrong, and what can safely be mended."""
