"""Tests of the API kernel: authentication, permissions, parameters, errors, pages."""
