"""How references change: through one gate, together with what is recorded of it."""
