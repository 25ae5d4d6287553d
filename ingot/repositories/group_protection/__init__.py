"""Protected branches of groups, which apply to all of their projects."""
