"""Server of static sites: from the host and path of a request to the bytes of a file."""
