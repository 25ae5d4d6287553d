"""Import of projects and groups from other servers and from archives, and their export."""
