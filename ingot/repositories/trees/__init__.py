"""Trees, blobs and archives of a repository over the API."""
