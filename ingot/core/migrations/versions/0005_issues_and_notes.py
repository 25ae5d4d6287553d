"""Add issues, labels, milestones, boards, notes and snippets."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add issues, labels, milestones, boards, notes and snippets."""
    op.create_table(
        "internal_ids",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_internal_ids")),
        sa.UniqueConstraint("scope", "scope_id", "kind", name=op.f("uq_internal_ids_scope_scope_id_kind")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "labels",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("title_key", sa.Text(), nullable=False),
        sa.Column("color", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["namespaces.id"], name=op.f("fk_labels_group_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_labels_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_labels")),
        sa.UniqueConstraint("group_id", "title", name=op.f("uq_labels_group_id_title")),
        sa.UniqueConstraint("project_id", "title", name=op.f("uq_labels_project_id_title")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_labels_title", "labels", ["title"])
    op.create_table(
        "label_links",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("label_id", _IDENTIFIER, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("confidential", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["label_id"], ["labels.id"], name=op.f("fk_label_links_label_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_label_links_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_label_links")),
        sa.UniqueConstraint(
            "subject_kind", "subject_id", "label_id", name=op.f("uq_label_links_subject_kind_subject_id_label_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_label_links_label_id",
        "label_links",
        ["label_id", "subject_kind", "project_id", "state", "confidential", "subject_id"],
    )
    op.create_index("ix_label_links_project_id", "label_links", ["project_id"])
    op.create_table(
        "label_priorities",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("label_id", _IDENTIFIER, nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["label_id"], ["labels.id"], name=op.f("fk_label_priorities_label_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_label_priorities_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_label_priorities")),
        sa.UniqueConstraint("project_id", "label_id", name=op.f("uq_label_priorities_project_id_label_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_label_priorities_label_id", "label_priorities", ["label_id"])
    op.create_table(
        "milestones",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("iid", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("title_key", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("due_date", sa.Text(), nullable=True),
        sa.Column("start_date", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("description_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_milestones_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_milestones_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_milestones")),
        sa.UniqueConstraint("group_id", "iid", name=op.f("uq_milestones_group_id_iid")),
        sa.UniqueConstraint("group_id", "title", name=op.f("uq_milestones_group_id_title")),
        sa.UniqueConstraint("project_id", "iid", name=op.f("uq_milestones_project_id_iid")),
        sa.UniqueConstraint("project_id", "title", name=op.f("uq_milestones_project_id_title")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_milestones_title", "milestones", ["title"])
    op.create_table(
        "follows",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("following", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_follows_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_follows")),
        sa.UniqueConstraint(
            "user_id", "subject_kind", "subject_id", name=op.f("uq_follows_user_id_subject_kind_subject_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_follows_subject_kind_subject_id", "follows", ["subject_kind", "subject_id"])
    op.create_table(
        "issues",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("iid", sa.BigInteger(), nullable=False),
        sa.Column("author_id", _IDENTIFIER, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("confidential", sa.Boolean(), nullable=False),
        sa.Column("milestone_id", _IDENTIFIER, nullable=True),
        sa.Column("due_date", sa.Text(), nullable=True),
        sa.Column("user_notes_count", sa.BigInteger(), nullable=False),
        sa.Column("upvotes", sa.BigInteger(), nullable=False),
        sa.Column("downvotes", sa.BigInteger(), nullable=False),
        sa.Column("time_estimate", sa.BigInteger(), nullable=False),
        sa.Column("total_time_spent", sa.BigInteger(), nullable=False),
        sa.Column("moved_to_id", _IDENTIFIER, nullable=True),
        sa.Column("closed_by_id", _IDENTIFIER, nullable=True),
        sa.Column("closed_at", sa.Text(), nullable=True),
        sa.Column("discussion_locked", sa.Boolean(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("deleted_at", sa.Text(), nullable=True),
        sa.Column("title_key", sa.Text(), nullable=False),
        sa.Column("description_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_issues_author_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["closed_by_id"], ["users.id"], name=op.f("fk_issues_closed_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["milestone_id"], ["milestones.id"], name=op.f("fk_issues_milestone_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["moved_to_id"], ["issues.id"], name=op.f("fk_issues_moved_to_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_issues_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issues")),
        sa.UniqueConstraint("project_id", "iid", name=op.f("uq_issues_project_id_iid")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_issues_author_id", "issues", ["author_id"])
    op.create_index(
        "ix_issues_milestone_id",
        "issues",
        ["milestone_id", "state", "project_id", "created_at", "id", "deleted_at"],
    )
    op.create_index("ix_issues_project_id_id", "issues", ["project_id", "id"])
    op.create_index(
        "ix_issues_project_id_created_at",
        "issues",
        ["project_id", "created_at", "id", "state", "confidential", "deleted_at"],
    )
    op.create_index(
        "ix_issues_project_id_updated_at",
        "issues",
        ["project_id", "updated_at", "id", "state", "confidential", "deleted_at"],
    )
    op.create_table(
        "issue_assignees",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("issue_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name=op.f("fk_issue_assignees_issue_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_issue_assignees_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issue_assignees")),
        sa.UniqueConstraint("issue_id", "user_id", name=op.f("uq_issue_assignees_issue_id_user_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_issue_assignees_user_id", "issue_assignees", ["user_id", "issue_id"])
    op.create_table(
        "issue_counts",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("confidential", sa.Boolean(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_issue_counts_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issue_counts")),
        sa.UniqueConstraint(
            "project_id", "state", "confidential", name=op.f("uq_issue_counts_project_id_state_confidential")
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "issue_origins",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("issue_id", _IDENTIFIER, nullable=False),
        sa.Column("user_agent", sa.Text(), nullable=False),
        sa.Column("ip_address", sa.Text(), nullable=False),
        sa.Column("submitted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name=op.f("fk_issue_origins_issue_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issue_origins")),
        sa.UniqueConstraint("issue_id", name=op.f("uq_issue_origins_issue_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "issue_links",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("source_id", _IDENTIFIER, nullable=False),
        sa.Column("target_id", _IDENTIFIER, nullable=False),
        sa.Column("link_type", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["issues.id"], name=op.f("fk_issue_links_source_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["issues.id"], name=op.f("fk_issue_links_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issue_links")),
        sa.UniqueConstraint("source_id", "target_id", name=op.f("uq_issue_links_source_id_target_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_issue_links_target_id", "issue_links", ["target_id"])
    op.add_column("notes", sa.Column("type", sa.Text(), nullable=True))
    op.add_column("notes", sa.Column("action", sa.Text(), nullable=True))
    op.add_column("notes", sa.Column("internal", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("notes", sa.Column("source_kind", sa.Text(), nullable=True))
    op.add_column("notes", sa.Column("source_id", sa.BigInteger(), nullable=True))
    op.add_column("notes", sa.Column("source_project_id", sa.BigInteger(), nullable=True))
    op.create_index("ix_notes_source_kind_source_id", "notes", ["source_kind", "source_id"])
    op.create_table(
        "award_emoji",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("former_user_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_award_emoji_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_award_emoji_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_award_emoji")),
        sa.UniqueConstraint(
            "subject_kind",
            "subject_id",
            "user_id",
            "name",
            "former_user_id",
            name=op.f("uq_award_emoji_once"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_award_emoji_project_id", "award_emoji", ["project_id"])
    op.create_index("ix_award_emoji_user_id", "award_emoji", ["user_id", "subject_kind", "name", "subject_id"])
    op.create_table(
        "resource_events",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("label_id", _IDENTIFIER, nullable=True),
        sa.Column("milestone_id", _IDENTIFIER, nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["label_id"], ["labels.id"], name=op.f("fk_resource_events_label_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["milestone_id"], ["milestones.id"], name=op.f("fk_resource_events_milestone_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_resource_events_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_resource_events_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource_events")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_resource_events_label_id", "resource_events", ["label_id"])
    op.create_index("ix_resource_events_milestone_id", "resource_events", ["milestone_id"])
    op.create_index("ix_resource_events_project_id", "resource_events", ["project_id"])
    op.create_index(
        "ix_resource_events_subject_kind_subject_id", "resource_events", ["subject_kind", "subject_id", "kind", "id"]
    )
    op.create_index("ix_resource_events_user_id", "resource_events", ["user_id"])
    op.create_table(
        "boards",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hide_backlog_list", sa.Boolean(), nullable=False),
        sa.Column("hide_closed_list", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["namespaces.id"], name=op.f("fk_boards_group_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_boards_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_boards")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_boards_group_id", "boards", ["group_id"])
    op.create_index("ix_boards_project_id", "boards", ["project_id"])
    op.create_table(
        "board_lists",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("board_id", _IDENTIFIER, nullable=False),
        sa.Column("label_id", _IDENTIFIER, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_board_lists_board_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["label_id"], ["labels.id"], name=op.f("fk_board_lists_label_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board_lists")),
        sa.UniqueConstraint("board_id", "label_id", name=op.f("uq_board_lists_board_id_label_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_board_lists_label_id", "board_lists", ["label_id"])
    # Projects that exist already get the board with which new ones begin.
    op.execute(
        "INSERT INTO boards (project_id, name, hide_backlog_list, hide_closed_list, created_at, updated_at) "
        "SELECT id, 'Development', false, false, created_at, created_at FROM projects ORDER BY id"
    )
    op.create_table(
        "project_wikis",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("repository_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_wikis_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project_wikis")),
        sa.UniqueConstraint("project_id", name=op.f("uq_project_wikis_project_id")),
        sa.UniqueConstraint("repository_key", name=op.f("uq_project_wikis_repository_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "snippets",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("author_id", _IDENTIFIER, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("user_agent", sa.Text(), nullable=False),
        sa.Column("ip_address", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_snippets_author_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_snippets_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snippets")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_snippets_author_id", "snippets", ["author_id", "id"])
    op.create_index("ix_snippets_project_id", "snippets", ["project_id", "id"])
    op.create_index("ix_snippets_visibility", "snippets", ["visibility", "project_id", "id"])
    op.create_table(
        "snippet_files",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("snippet_id", _IDENTIFIER, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["snippet_id"], ["snippets.id"], name=op.f("fk_snippet_files_snippet_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snippet_files")),
        sa.UniqueConstraint("snippet_id", "path", name=op.f("uq_snippet_files_snippet_id_path")),
        sqlite_autoincrement=True,
    )
    _index("issues", ("title_key", "description_key"))


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
