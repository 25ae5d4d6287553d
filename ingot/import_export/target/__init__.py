"""Storage of imported records as rows, with the times and authors of the source and without events."""
