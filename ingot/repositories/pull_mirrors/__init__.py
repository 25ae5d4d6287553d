"""Pull mirrors: projects that follow the branches and tags of a repository on another server."""
