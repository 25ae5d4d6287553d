"""Repository pages: files, history, diffs, branches and tags."""
