"""Tests of deploy keys."""
