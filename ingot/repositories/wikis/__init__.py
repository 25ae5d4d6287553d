"""Wikis: pages of a project, each a file in a repository of its own."""
