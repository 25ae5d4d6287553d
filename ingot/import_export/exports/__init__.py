"""Archives of projects and groups."""
