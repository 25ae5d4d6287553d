"""Kinds of background jobs, by package: each function imports and returns the handler of one kind."""
