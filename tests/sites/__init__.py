"""Tests of static sites."""
