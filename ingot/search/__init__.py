"""Search in the instance, a group or a project."""
