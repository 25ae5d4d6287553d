"""Opening repositories: the git command, libgit2, refs, paths and the cache."""
