"""Small pictures of users, groups and projects, kept in the database."""
