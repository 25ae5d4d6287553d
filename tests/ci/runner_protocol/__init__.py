"""Tests of runner protocol."""
