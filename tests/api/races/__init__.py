"""Tests of concurrent requests to several processes of an instance."""
