"""Two-factor authentication: time-based one-time passwords (TOTP) and recovery codes."""
