"""Foundations of repository access: the git command, libgit2, refs, names, paths and the on-disk layout."""
