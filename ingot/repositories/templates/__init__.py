"""Texts to begin a repository with: gitignores, licences, CI files."""
