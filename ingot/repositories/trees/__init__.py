"""Trees, blobs and archives of a repository."""
