"""Add merge requests."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OPEN = sa.text("state = 'opened' AND deleted_at IS NULL")


def upgrade() -> None:
    """Add merge requests."""
    op.create_table(
        "merge_request_counts",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_merge_request_counts_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_counts")),
        sa.UniqueConstraint("project_id", "state", name=op.f("uq_merge_request_counts_project_id_state")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "merge_requests",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("iid", sa.BigInteger(), nullable=False),
        sa.Column("target_project_id", _IDENTIFIER, nullable=False),
        sa.Column("source_project_id", _IDENTIFIER, nullable=True),
        sa.Column("source_branch", sa.Text(), nullable=False),
        sa.Column("target_branch", sa.Text(), nullable=False),
        sa.Column("author_id", _IDENTIFIER, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("milestone_id", _IDENTIFIER, nullable=True),
        sa.Column("merge_when_pipeline_succeeds", sa.Boolean(), nullable=False),
        sa.Column("merge_user_id", _IDENTIFIER, nullable=True),
        sa.Column("merge_params", sa.Text(), nullable=True),
        sa.Column("squash", sa.Boolean(), nullable=False),
        sa.Column("remove_source_branch", sa.Boolean(), nullable=False),
        sa.Column("head_oid", sa.Text(), nullable=False),
        sa.Column("merge_commit_oid", sa.Text(), nullable=True),
        sa.Column("squash_commit_oid", sa.Text(), nullable=True),
        sa.Column("merged_at", sa.Text(), nullable=True),
        sa.Column("merged_by_id", _IDENTIFIER, nullable=True),
        sa.Column("closed_at", sa.Text(), nullable=True),
        sa.Column("closed_by_id", _IDENTIFIER, nullable=True),
        sa.Column("merge_error", sa.Text(), nullable=True),
        sa.Column("verdict_source_oid", sa.Text(), nullable=True),
        sa.Column("verdict_target_oid", sa.Text(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("user_notes_count", sa.BigInteger(), nullable=False),
        sa.Column("upvotes", sa.BigInteger(), nullable=False),
        sa.Column("downvotes", sa.BigInteger(), nullable=False),
        sa.Column("time_estimate", sa.BigInteger(), nullable=False),
        sa.Column("total_time_spent", sa.BigInteger(), nullable=False),
        sa.Column("discussion_locked", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("deleted_at", sa.Text(), nullable=True),
        sa.Column("title_key", sa.Text(), nullable=False),
        sa.Column("description_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name=op.f("fk_merge_requests_author_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["closed_by_id"], ["users.id"], name=op.f("fk_merge_requests_closed_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["merge_user_id"], ["users.id"], name=op.f("fk_merge_requests_merge_user_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["merged_by_id"], ["users.id"], name=op.f("fk_merge_requests_merged_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["milestone_id"], ["milestones.id"], name=op.f("fk_merge_requests_milestone_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["source_project_id"],
            ["projects.id"],
            name=op.f("fk_merge_requests_source_project_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["target_project_id"], ["projects.id"], name=op.f("fk_merge_requests_target_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_requests")),
        sa.UniqueConstraint("target_project_id", "iid", name=op.f("uq_merge_requests_target_project_id_iid")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_requests_author_id", "merge_requests", ["author_id"])
    op.create_index(
        "ix_merge_requests_created_at",
        "merge_requests",
        ["target_project_id", "created_at", "id", "state", "deleted_at"],
    )
    op.create_index("ix_merge_requests_merge_commit_oid", "merge_requests", ["target_project_id", "merge_commit_oid"])
    op.create_index(
        "ix_merge_requests_milestone_id",
        "merge_requests",
        ["milestone_id", "state", "target_project_id", "created_at", "id"],
    )
    op.create_index(
        "ix_merge_requests_open_target",
        "merge_requests",
        ["target_project_id", "target_branch", "head_oid"],
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
    op.create_index("ix_merge_requests_source_project_id", "merge_requests", ["source_project_id", "source_branch"])
    op.create_index(
        "ix_merge_requests_state", "merge_requests", ["target_project_id", "state", "created_at", "id", "deleted_at"]
    )
    op.create_index("ix_merge_requests_target_project_id_id", "merge_requests", ["target_project_id", "id"])
    op.create_index(
        "ix_merge_requests_updated_at",
        "merge_requests",
        ["target_project_id", "updated_at", "id", "state", "deleted_at"],
    )
    op.create_index(
        "uq_merge_requests_open",
        "merge_requests",
        ["source_project_id", "source_branch", "target_project_id", "target_branch"],
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )

    op.create_table(
        "merge_request_approvals",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_approvals_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_merge_request_approvals_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_approvals")),
        sa.UniqueConstraint(
            "merge_request_id", "user_id", name=op.f("uq_merge_request_approvals_merge_request_id_user_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_request_approvals_user_id", "merge_request_approvals", ["user_id"])

    op.create_table(
        "merge_request_assignees",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_assignees_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_merge_request_assignees_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_assignees")),
        sa.UniqueConstraint(
            "merge_request_id", "user_id", name=op.f("uq_merge_request_assignees_merge_request_id_user_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_request_assignees_user_id", "merge_request_assignees", ["user_id", "merge_request_id"])

    op.create_table(
        "merge_request_closings",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("issue_id", _IDENTIFIER, nullable=False),
        sa.Column("by_commits", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name=op.f("fk_merge_request_closings_issue_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_closings_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_closings")),
        sa.UniqueConstraint(
            "merge_request_id",
            "issue_id",
            "by_commits",
            name=op.f("uq_merge_request_closings_merge_request_id_issue_id_by_commits"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_request_closings_issue_id", "merge_request_closings", ["issue_id", "merge_request_id"])

    op.create_table(
        "merge_request_merges",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("actor_id", _IDENTIFIER, nullable=True),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("source_oid", sa.Text(), nullable=False),
        sa.Column("target_oid", sa.Text(), nullable=False),
        sa.Column("new_oid", sa.Text(), nullable=False),
        sa.Column("merge_commit_oid", sa.Text(), nullable=True),
        sa.Column("squash_commit_oid", sa.Text(), nullable=True),
        sa.Column("remove_source_branch", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["actor_id"], ["users.id"], name=op.f("fk_merge_request_merges_actor_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_merges_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_merges")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_request_merges_actor_id", "merge_request_merges", ["actor_id"])
    op.create_index("ix_merge_request_merges_merge_request_id", "merge_request_merges", ["merge_request_id"])
    op.create_index("ix_merge_request_merges_new_oid", "merge_request_merges", ["new_oid"])

    op.create_table(
        "merge_request_reviewers",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_reviewers_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_merge_request_reviewers_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_reviewers")),
        sa.UniqueConstraint(
            "merge_request_id", "user_id", name=op.f("uq_merge_request_reviewers_merge_request_id_user_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_request_reviewers_user_id", "merge_request_reviewers", ["user_id", "merge_request_id"])

    op.create_table(
        "merge_request_versions",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("head_oid", sa.Text(), nullable=False),
        sa.Column("base_oid", sa.Text(), nullable=True),
        sa.Column("start_oid", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("commits_count", sa.BigInteger(), nullable=True),
        sa.Column("files_count", sa.Text(), nullable=True),
        sa.Column("pushed_by_id", _IDENTIFIER, nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_versions_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["pushed_by_id"], ["users.id"], name=op.f("fk_merge_request_versions_pushed_by_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_versions")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_request_versions_merge_request_id", "merge_request_versions", ["merge_request_id", "id"])
    op.create_index("ix_merge_request_versions_pushed_by_id", "merge_request_versions", ["pushed_by_id"])

    op.add_column("notes", sa.Column("position", sa.Text(), nullable=True))
    op.add_column("notes", sa.Column("original_position", sa.Text(), nullable=True))
    op.add_column("notes", sa.Column("resolved_at", sa.Text(), nullable=True))
    op.add_column("notes", sa.Column("resolved_by_id", sa.BigInteger(), nullable=True))
    _index("merge_requests", ("title_key", "description_key"))


def _index(table: str, columns: tuple[str, ...]) -> None:
    """Let a text be found anywhere in the columns, three characters at a time."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        _index_embedded(table, columns)
    else:
        _index_on_server(connection, table, columns)


def _index_embedded(table: str, columns: tuple[str, ...]) -> None:
    """Three characters at a time, in a table that holds no text of its own and that triggers keep."""
    index = f"{table}_search"
    names = ", ".join(columns)
    new, old = (", ".join(f"{row}.{column}" for column in columns) for row in ("new", "old"))
    add = f"INSERT INTO {index} (rowid, {names}) VALUES (new.id, {new});"  # noqa: S608 - Names of our own.
    drop = f"INSERT INTO {index} ({index}, rowid, {names}) VALUES ('delete', old.id, {old});"  # noqa: S608 - The same.
    op.execute(
        f"CREATE VIRTUAL TABLE {index} USING fts5 "
        f"({names}, content='{table}', content_rowid='id', tokenize='trigram case_sensitive 1')"
    )
    op.execute(f"CREATE TRIGGER {index}_added AFTER INSERT ON {table} BEGIN {add} END")
    op.execute(f"CREATE TRIGGER {index}_dropped AFTER DELETE ON {table} BEGIN {drop} END")
    op.execute(f"CREATE TRIGGER {index}_changed AFTER UPDATE OF {names} ON {table} BEGIN {drop} {add} END")
    op.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")  # noqa: S608 - Names of our own.


def _index_on_server(connection: sa.Connection, table: str, columns: tuple[str, ...]) -> None:
    """The same by an extension that most servers have; where it cannot be made, searches read the whole table."""
    available = "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'"
    if connection.exec_driver_sql(available).fetchone() is None:
        return
    indexed = ", ".join(f"{column} gin_trgm_ops" for column in columns)
    try:
        with connection.begin_nested():
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            connection.exec_driver_sql(f"CREATE INDEX ix_{table}_search ON {table} USING gin ({indexed})")
    except sa.exc.DBAPIError:
        return
