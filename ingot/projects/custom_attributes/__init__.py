"""Custom attributes of projects and groups, set by administrators."""
