"""Tests of commit statuses and external pipelines."""
