"""Profile settings: account, tokens, keys, emails, sessions and preferences."""
