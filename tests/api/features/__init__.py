"""Tests of feature flags."""
