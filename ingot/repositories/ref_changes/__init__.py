"""Changes of refs: permission check, update and record.

See docs/subsystems/refs-and-pushes.md.
"""
