"""Command line: one module per command, which parses arguments and prints."""
