"""Tests of project and group access tokens."""
