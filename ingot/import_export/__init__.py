"""Import of projects and groups from other servers and from archives, and their export.

See docs/subsystems/import.md.
"""
