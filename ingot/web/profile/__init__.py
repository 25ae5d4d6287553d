"""What is one's own: the account, tokens, keys and settings."""
