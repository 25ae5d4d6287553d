"""Tests of API clients against the server."""
