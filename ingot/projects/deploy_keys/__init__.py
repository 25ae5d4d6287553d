"""Keys that let machines into projects over SSH, instead of standing for a person."""
