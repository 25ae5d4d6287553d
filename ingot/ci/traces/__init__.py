"""Traces of jobs: the output that runners send, as files."""
