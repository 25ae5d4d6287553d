"""Kinds of callers, and kinds of tokens, as the tables of routes name them."""

ANYONE, USER, ADMIN = "anyone", "user", "administrator"
WRITE = {"api"}
READ = {"api", "read_api"}
USERS = {"api", "read_api", "read_user"}
ALL = {"api", "read_api", "read_user", "read_repository", "write_repository", "sudo"}
