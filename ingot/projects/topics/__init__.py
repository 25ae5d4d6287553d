"""Topics of projects, with descriptions that administrators maintain."""
