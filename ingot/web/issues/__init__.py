"""Issues, their labels, milestones and boards."""
