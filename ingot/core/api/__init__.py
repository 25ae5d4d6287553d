"""API kernel: endpoint declarations, routing, parameters, paging and responses."""
