"""Tests of the GraphQL API."""
