"""Tests of project conventions: language, imports, documentation."""
