"""Notes: what people write about commits and, later on, about other things."""
