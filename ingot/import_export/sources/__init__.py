"""Servers and archives that projects are imported from."""
