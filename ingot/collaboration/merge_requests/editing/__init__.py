"""Editing, closing, reopening, subscribing to, time tracking and deletion of merge requests."""
