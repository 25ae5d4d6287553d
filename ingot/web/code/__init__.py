"""A repository in the browser: files, history, differences, branches and tags."""
