"""Tests of git over HTTP and SSH."""
