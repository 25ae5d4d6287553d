"""Storage of imported records."""
