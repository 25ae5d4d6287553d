"""Tests of users, keys, tokens and email addresses."""
