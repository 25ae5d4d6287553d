"""Version the rows that totals of lists depend on, on SQLite, and cover the members of a group or project."""

from alembic import op

revision = "0021"
down_revision = "0020"

_EVERYTHING = ""
# Table, the columns that lists filter by, and the versions that a change of them increments.
_VERSIONED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "users",
        "username_key, name_key, email, public_email, state, admin, external, placeholder, two_factor_enabled",
        ("'users'",),
    ),
    ("emails", "email, user_id, confirmed_at, proven_at", ("'users'",)),
    (
        "projects",
        "namespace_id, creator_id, name_key, path_key, full_path_key, visibility, archived, issues_enabled, "
        "merge_requests_enabled",
        ("'projects'",),
    ),
    ("namespaces", "name_key, full_path_key, visibility, owner_id, parent_id", ("'projects'",)),
    (
        "memberships",
        "source_kind, source_id, namespace_id, user_id, access_level, expires_at",
        ("'members'",),
    ),
    ("project_shares", _EVERYTHING, ("'members'",)),
    ("group_shares", _EVERYTHING, ("'members'",)),
    (
        "issues",
        "project_id, author_id, title_key, description_key, state, confidential, milestone_id, due_date, deleted_at",
        ("'issues'", "'issues/' || {row}.project_id"),
    ),
    ("label_links", _EVERYTHING, ("'issues'", "'issues/' || {row}.project_id")),
    (
        "issue_assignees",
        _EVERYTHING,
        ("'issues'", "'issues/' || (SELECT project_id FROM issues WHERE id = {row}.issue_id)"),
    ),
)


def upgrade() -> None:
    """Version the rows that totals of lists depend on."""
    op.create_index(
        "ix_memberships_source",
        "memberships",
        ["source_kind", "source_id", "user_id", "expires_at", "access_level"],
    )
    if op.get_bind().dialect.name != "sqlite":
        return
    op.execute("CREATE TABLE row_versions (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID")
    for table, columns, names in _VERSIONED:
        for event, row in (("INSERT", "new"), ("DELETE", "old"), (f"UPDATE{columns and ' OF '}{columns}", "new")):
            changes = " ".join(_increment(name.format(row=row)) for name in names)
            trigger = f"{table}_version_{event[:6].lower()}"
            op.execute(f"CREATE TRIGGER {trigger} AFTER {event} ON {table} BEGIN {changes} END")


def _increment(name: str) -> str:
    # Names that are not known, such as the project of an issue that is deleted itself, are left out.
    return (
        f"INSERT INTO row_versions (name, version) SELECT {name}, 1 WHERE {name} IS NOT NULL "
        "ON CONFLICT (name) DO UPDATE SET version = version + 1;"
    )
