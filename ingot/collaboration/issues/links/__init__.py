"""Links between issues: what has to do with what."""
