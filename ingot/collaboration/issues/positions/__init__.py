"""Manual order of the issues of a project."""
