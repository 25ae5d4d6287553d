"""Push mirrors: repositories on other servers that follow the branches and tags of a project."""
