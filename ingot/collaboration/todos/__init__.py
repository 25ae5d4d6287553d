"""Todos: subjects that a user should look at after an assignment, a mention or an explicit request."""
