"""Markdown rendering with resolved references."""
