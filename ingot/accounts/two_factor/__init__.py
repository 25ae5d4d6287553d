"""Two-factor authentication: time-based one-time passwords (TOTP), passkeys and recovery codes."""
