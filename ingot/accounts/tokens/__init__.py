"""Private, personal access and impersonation tokens."""
