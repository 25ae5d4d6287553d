"""Users and authentication: keys, tokens, sessions, OAuth, identity providers, instance settings."""
