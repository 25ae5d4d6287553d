"""A git forge that implements GitLab's v4 REST API."""
