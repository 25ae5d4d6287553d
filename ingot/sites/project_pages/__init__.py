"""Settings of the static site of a project, and its addresses."""
