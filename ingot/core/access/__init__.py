"""Who is calling, and the one mechanism that says what they may do."""
