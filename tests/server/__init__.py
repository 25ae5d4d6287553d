"""Tests of the server processes and commands."""
