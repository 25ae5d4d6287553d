"""API kernel: endpoint declarations, routing, parameters, paging and responses.

See docs/subsystems/requests.md.
"""
