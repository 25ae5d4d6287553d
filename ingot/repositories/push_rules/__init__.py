"""Push rules: conditions on the names, commits and files of pushes and of commits by the API and pages."""
