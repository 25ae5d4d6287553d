"""Imports of repositories from a URL, executed by a background job."""
