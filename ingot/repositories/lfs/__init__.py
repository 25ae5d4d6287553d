"""Git LFS: objects of projects and file locks."""
