"""Tests of repositories: branches, tags, commits and files."""
