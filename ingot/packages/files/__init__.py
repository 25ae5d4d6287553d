"""Files of packages and container images in the storage."""
