"""Audit events of groups and projects."""
