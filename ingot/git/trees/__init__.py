"""Trees and blobs: listings, file contents, archives, search."""
