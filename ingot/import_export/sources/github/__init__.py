"""Source of repositories and organizations of GitHub and GitHub Enterprise."""
