"""Comparison with another forge: the same calls against a Gitea or Forgejo program on equal data."""
