"""Repositories as API resources: branches, commits, files and what protects them."""
