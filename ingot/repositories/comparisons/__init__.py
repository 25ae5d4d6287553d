"""Comparisons of refs, merge bases and contributors."""
