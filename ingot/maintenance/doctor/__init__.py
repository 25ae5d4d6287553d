"""Checks of an instance, with repairs where they are safe."""
