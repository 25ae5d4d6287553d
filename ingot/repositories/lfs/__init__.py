"""Large files beside the repositories: which project has which, and who works on what."""
