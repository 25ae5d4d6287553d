"""Tests of todos."""
