"""The queue and its workers, through a real database and real processes."""
