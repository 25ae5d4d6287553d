"""Labels of projects and groups, and their assignment to issues and merge requests."""
