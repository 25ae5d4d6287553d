"""The caller of a request, access levels, token scopes, and the functions that check permissions.

See docs/subsystems/permissions.md.
"""
