"""Users themselves: who they are, what they may, and where they are in their life."""
