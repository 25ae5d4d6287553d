"""Tests of CI configuration files, without a server."""
