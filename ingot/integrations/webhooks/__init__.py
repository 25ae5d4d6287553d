"""Hooks: what happens here is told to receivers elsewhere, durably, in order, and only where it may go."""
