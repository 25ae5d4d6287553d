"""Sidebar of issues and merge requests: assignees, labels, milestone, due date and time tracking."""
