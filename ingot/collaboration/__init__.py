"""Issues, merge requests, notes, labels, milestones and other planning and discussion features."""
