"""Tests of milestones."""
