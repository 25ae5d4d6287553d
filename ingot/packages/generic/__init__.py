"""Generic packages: any files, by name and version."""
