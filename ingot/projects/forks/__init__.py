"""Forks and fork relations of projects."""
