"""Tests of CI: configuration, pipelines and runners."""
