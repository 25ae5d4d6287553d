"""Composition root: the application, its wiring, startup, supervised processes and the control API of test servers."""
