"""Demo data: fictional users and a project."""
