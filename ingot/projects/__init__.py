"""Projects: the resource that everything else hangs on, and who may see it."""
