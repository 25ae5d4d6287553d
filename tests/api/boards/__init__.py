"""Tests of issue boards."""
