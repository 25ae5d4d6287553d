"""Groups with their projects: endpoints of groups whose responses show projects, and the groups of a project."""
