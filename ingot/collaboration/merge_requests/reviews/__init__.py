"""Reviews of merge requests: draft notes, suggested changes and viewed files."""
