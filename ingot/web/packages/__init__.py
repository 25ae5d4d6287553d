"""Pages of packages and container images."""
