"""Issues of milestones: lists, counts, and references to merged and moved milestones."""
