"""Runner that executes jobs in a shell; it knows the server only through the public runner protocol."""
