"""Source of projects and groups of a GitLab, or of another server with its API (v4)."""
