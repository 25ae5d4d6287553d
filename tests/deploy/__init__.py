"""Examples in deploy/, run with the programs that they configure."""
