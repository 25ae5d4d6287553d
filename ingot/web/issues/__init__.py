"""Issues, labels, milestones and boards."""
