"""Topics: what projects say they are about, and what administrators say about that."""
