"""Notes, discussions on lines, approvals, award emoji, system notes and resource events of merge requests."""
