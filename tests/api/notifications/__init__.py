"""Tests of mail notifications."""
