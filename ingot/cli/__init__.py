"""The commands: parse arguments, print."""
