"""Issues, merge requests, notes, labels, milestones and everything people discuss and plan with."""
