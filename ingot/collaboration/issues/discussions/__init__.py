"""Notes, discussions, award emoji, system notes and resource events of issues."""
