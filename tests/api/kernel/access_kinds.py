"""Kinds of callers and tokens, as named in the route tables."""

ANYONE, USER, ADMIN = "anyone", "user", "administrator"
WRITE = {"api"}
READ = {"api", "read_api"}
ROTATE = {"api", "self_rotate"}
NEW_RUNNERS = {"api", "create_runner"}
READ_RUNNERS = {"api", "read_api", "manage_runner"}
RUNNERS = {"api", "manage_runner"}
USERS = {"api", "read_api", "read_user"}
ALL = {
    *("api", "read_api", "read_user", "read_repository", "write_repository", "sudo", "read_registry", "write_registry"),
    *("create_runner", "manage_runner", "admin_mode", "k8s_proxy", "ai_features", "self_rotate", "mcp"),
}
