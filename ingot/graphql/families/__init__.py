"""Resolvers and mutations, one module for each family of types."""
