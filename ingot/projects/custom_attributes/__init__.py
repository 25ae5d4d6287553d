"""What administrators note on projects and groups, under keys of their own."""
