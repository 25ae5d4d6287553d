"""Sign-in, sign-up, single sign-on, password reset, and pages linked from emails."""
