"""Award emoji: what people feel about something, in one picture."""
