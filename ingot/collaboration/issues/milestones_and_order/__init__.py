"""Issues in the plan: those of a milestone, and in which order they stand."""
