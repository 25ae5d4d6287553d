"""Source of repositories and organizations of Gitea and Forgejo."""
