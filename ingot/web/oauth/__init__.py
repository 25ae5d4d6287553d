"""Programs that act for people: applications, consent and tokens."""
