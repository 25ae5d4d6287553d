"""Accounts and all that proves who somebody is: keys, tokens, sessions."""
