"""How rooms speak upward: a room emits, higher rooms subscribe, all in the same transaction."""
