"""Tests of the storage of files and repositories."""
