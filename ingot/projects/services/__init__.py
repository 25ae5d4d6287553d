"""Services: what a project is connected to elsewhere, described by data, and the issue tracker that it uses instead."""
