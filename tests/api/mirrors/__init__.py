"""Tests of push mirrors."""
