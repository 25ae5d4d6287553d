"""SSH and GPG keys of users."""
