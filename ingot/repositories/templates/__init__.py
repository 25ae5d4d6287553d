"""Templates of repository files: gitignores, licenses, Dockerfiles, CI files."""
