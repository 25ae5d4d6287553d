"""Push rules."""
