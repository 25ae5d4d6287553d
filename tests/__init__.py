"""Tests through the public interfaces: HTTP, git, command line, browser."""
