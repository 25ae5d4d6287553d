"""Finding anything by a text: everywhere, in a group, in a project."""
