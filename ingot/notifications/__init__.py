"""Notification settings and emails about changes of subjects."""
