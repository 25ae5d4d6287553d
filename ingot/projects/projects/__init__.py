"""Projects: settings, permissions, lists, repositories and default branches."""
