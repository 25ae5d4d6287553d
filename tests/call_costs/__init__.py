"""Costs of frequent calls."""
