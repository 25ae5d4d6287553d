"""Projects, groups, members, forks, imports and what belongs to a project or group."""
