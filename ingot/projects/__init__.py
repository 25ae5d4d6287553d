"""Projects and groups, with members, forks, imports, variables, environments and other project settings."""
