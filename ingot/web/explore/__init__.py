"""Home page, search, activity, help, and pages to explore projects and users."""
