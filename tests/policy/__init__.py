"""Tests of permission rules as tables of cases."""
