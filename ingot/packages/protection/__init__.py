"""Rules that restrict who may push or delete packages and container images."""
