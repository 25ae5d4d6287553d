"""Issues of milestones, and the manual order of issues."""
