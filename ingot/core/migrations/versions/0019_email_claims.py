"""Allow several users to claim an address until one of them proves it."""

from alembic import op

revision = "0019"
down_revision = "0018"

_TRIGGERS = (
    "CREATE TRIGGER emails_search_added AFTER INSERT ON emails BEGIN "
    "INSERT INTO emails_search (rowid, email) VALUES (new.id, new.email); END",
    "CREATE TRIGGER emails_search_dropped AFTER DELETE ON emails BEGIN "
    "INSERT INTO emails_search (emails_search, rowid, email) VALUES ('delete', old.id, old.email); END",
    "CREATE TRIGGER emails_search_changed AFTER UPDATE OF email ON emails BEGIN "
    "INSERT INTO emails_search (emails_search, rowid, email) VALUES ('delete', old.id, old.email); "
    "INSERT INTO emails_search (rowid, email) VALUES (new.id, new.email); END",
)


def upgrade() -> None:
    """Make secondary addresses not unique, and hide public addresses that are not addresses of their user."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    sequence = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'emails'"
    last_id = op.get_bind().exec_driver_sql(sequence).scalar() if sqlite else None
    with op.batch_alter_table("emails", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_constraint("uq_emails_email", type_="unique")
    op.create_index("ix_emails_email", "emails", ["email"])
    if sqlite:  # It rebuilds the table, which drops its triggers and forgets the ids of deleted rows.
        for trigger in _TRIGGERS:
            op.execute(trigger)
    if last_id is not None:
        op.get_bind().exec_driver_sql("UPDATE sqlite_sequence SET seq = ? WHERE name = 'emails'", (last_id,))
    op.execute(
        "UPDATE users SET public_email = '' WHERE public_email <> '' AND public_email <> email AND NOT EXISTS "
        "(SELECT 1 FROM emails WHERE emails.user_id = users.id AND emails.email = users.public_email)"
    )
