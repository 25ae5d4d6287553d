"""SSH keys that give machines access to projects, independent of a user."""
