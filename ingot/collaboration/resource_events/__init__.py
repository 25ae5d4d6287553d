"""Resource events: the history of labels, milestones and states of issues and merge requests."""
