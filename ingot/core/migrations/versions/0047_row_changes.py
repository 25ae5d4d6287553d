"""Record which of the rows change that nearly every request reads, so that caches forget only these."""

from alembic import op

revision = "0047"
down_revision = "0046"

# Tables and the columns that name the subject of a row; tables without one change as a whole.
_TABLES = {
    "access_tokens": "id",
    "ci_settings": "project_id",
    "group_shares": None,
    "identities": "user_id",
    "instance_settings": None,
    "memberships": "user_id",
    "merge_request_assignees": "merge_request_id",
    "merge_request_reviewers": "merge_request_id",
    "merge_request_versions": "merge_request_id",
    "merge_requests": "id",
    "namespace_tree": None,
    "namespaces": None,
    "path_redirects": None,
    "project_redirects": None,
    "project_shares": "project_id",
    "project_topics": "project_id",
    "projects": "id",
    "sessions": "id",
    "users": "id",
}


def upgrade() -> None:
    """Record changes of rows by triggers, so that nodes of the previous version record theirs too."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE TABLE row_changes (id INTEGER PRIMARY KEY, subject TEXT NOT NULL)")
        for table, key in _TABLES.items():
            _record_on_sqlite(table, key)
        return
    # A transaction becomes visible to others when it commits, not in the order of ids; snapshots compare its own id.
    op.execute(
        "CREATE TABLE row_changes (id bigint GENERATED ALWAYS AS IDENTITY, "
        "transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(), subject text NOT NULL)"
    )
    op.execute("CREATE INDEX ix_row_changes_transaction_id ON row_changes (transaction_id)")
    for table, key in _TABLES.items():
        _record_on_postgresql(table, key)


def _recording(subject: str) -> str:
    return f"INSERT INTO row_changes (subject) VALUES ({subject});"  # noqa: S608 - Names of our own.


def _record_on_sqlite(table: str, key: str | None) -> None:
    old, new = (_recording(f"'{table}/' || {row}.{key}" if key else f"'{table}'") for row in ("old", "new"))
    for event, change in (("insert", new), ("delete", old), ("update", old)):
        op.execute(f"CREATE TRIGGER {table}_change_{event} AFTER {event.upper()} ON {table} BEGIN {change} END")
    if key and key != "id":
        op.execute(f"CREATE TRIGGER {table}_change_subject AFTER UPDATE OF {key} ON {table} BEGIN {new} END")


def _record_on_postgresql(table: str, key: str | None) -> None:
    if key:
        old, new = (_recording(f"'{table}/' || {row}.{key}") for row in ("OLD", "NEW"))
        body = (
            f"IF TG_OP <> 'INSERT' THEN {old} END IF; "
            f"IF TG_OP <> 'DELETE' AND NEW.{key} IS DISTINCT FROM OLD.{key} THEN {new} END IF;"
        )
    else:
        body = _recording(f"'{table}'")
    op.execute(
        f"CREATE FUNCTION record_change_of_{table}() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN {body} RETURN NULL; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_change AFTER INSERT OR UPDATE OR DELETE ON {table} "
        f"FOR EACH {'ROW' if key else 'STATEMENT'} EXECUTE FUNCTION record_change_of_{table}()"
    )
