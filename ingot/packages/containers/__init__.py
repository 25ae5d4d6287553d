"""Container images: the registry protocol and the API of its repositories."""
