"""Browser sessions, sign-in with throttling, and one-time links for passwords and confirmations."""
