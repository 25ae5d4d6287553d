"""Add imports: runs, their entities and failures, links to imported rows, and source users."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add imports."""
    op.add_column("projects", sa.Column("import_type", sa.Text(), nullable=True))
    op.create_table(
        "import_runs",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("source_type", sa.Text(), nullable=False),
        sa.Column("source_url", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("sealed_credentials", sa.LargeBinary(), nullable=True),
        sa.Column("options_document", sa.Text(), server_default="{}", nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("finished_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_import_runs_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_runs")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_import_runs_user_id"), "import_runs", ["user_id"])
    op.create_table(
        "source_users",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("namespace_id", _IDENTIFIER, nullable=False),
        sa.Column("source_host", sa.Text(), nullable=False),
        sa.Column("source_key", sa.Text(), nullable=False),
        sa.Column("source_username", sa.Text(), nullable=False),
        sa.Column("source_name", sa.Text(), nullable=False),
        sa.Column("source_email", sa.Text(), nullable=True),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("placeholder", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reassign_to_user_id", _IDENTIFIER, nullable=True),
        sa.Column("reassigned_by_user_id", _IDENTIFIER, nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id"], ["namespaces.id"], name=op.f("fk_source_users_namespace_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["reassign_to_user_id"], ["users.id"], name=op.f("fk_source_users_reassign_to_user_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["reassigned_by_user_id"],
            ["users.id"],
            name=op.f("fk_source_users_reassigned_by_user_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_source_users_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_source_users")),
        sa.UniqueConstraint(
            "namespace_id",
            "source_host",
            "source_key",
            name=op.f("uq_source_users_namespace_id_source_host_source_key"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_source_users_reassign_to_user_id"), "source_users", ["reassign_to_user_id"])
    op.create_index(op.f("ix_source_users_reassigned_by_user_id"), "source_users", ["reassigned_by_user_id"])
    op.create_index(op.f("ix_source_users_source_email"), "source_users", ["source_email"])
    op.create_index(op.f("ix_source_users_user_id"), "source_users", ["user_id"])
    op.create_table(
        "imported_sources",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("source_type", sa.Text(), nullable=False),
        sa.Column("source_host", sa.Text(), nullable=False),
        sa.Column("source_key", sa.Text(), nullable=False),
        sa.Column("complete_since", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_imported_sources_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_imported_sources_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imported_sources")),
        sa.UniqueConstraint(
            "project_id",
            "source_host",
            "source_key",
            name=op.f("uq_imported_sources_project_id_source_host_source_key"),
        ),
        sa.UniqueConstraint(
            "group_id", "source_host", "source_key", name=op.f("uq_imported_sources_group_id_source_host_source_key")
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "import_entities",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("run_id", _IDENTIFIER, nullable=False),
        sa.Column("parent_id", _IDENTIFIER, nullable=True),
        sa.Column("entity_type", sa.Text(), nullable=False),
        sa.Column("source_key", sa.Text(), nullable=False),
        sa.Column("source_full_path", sa.Text(), nullable=False),
        sa.Column("destination_namespace", sa.Text(), nullable=False),
        sa.Column("destination_name", sa.Text(), nullable=False),
        sa.Column("destination_slug", sa.Text(), nullable=False),
        sa.Column("namespace_id", _IDENTIFIER, nullable=True),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("import_id", _IDENTIFIER, nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=True),
        sa.Column("cursor", sa.Text(), nullable=True),
        sa.Column("inventory_document", sa.Text(), nullable=True),
        sa.Column("progress_document", sa.Text(), server_default="{}", nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("finished_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imported_sources.id"], name=op.f("fk_import_entities_import_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["namespace_id"], ["namespaces.id"], name=op.f("fk_import_entities_namespace_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["import_entities.id"], name=op.f("fk_import_entities_parent_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_import_entities_project_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["import_runs.id"], name=op.f("fk_import_entities_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_entities")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_import_entities_import_id"), "import_entities", ["import_id"])
    op.create_index(op.f("ix_import_entities_namespace_id"), "import_entities", ["namespace_id"])
    op.create_index(op.f("ix_import_entities_parent_id"), "import_entities", ["parent_id"])
    op.create_index(op.f("ix_import_entities_project_id"), "import_entities", ["project_id"])
    op.create_index(op.f("ix_import_entities_run_id"), "import_entities", ["run_id"])
    op.create_table(
        "import_links",
        sa.Column("import_id", _IDENTIFIER, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("local_id", sa.BigInteger(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imported_sources.id"], name=op.f("fk_import_links_import_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("import_id", "kind", "key", name=op.f("pk_import_links")),
    )
    op.create_table(
        "import_failures",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("entity_id", _IDENTIFIER, nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("source_key", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entity_id"], ["import_entities.id"], name=op.f("fk_import_failures_entity_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_failures")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_import_failures_entity_id"), "import_failures", ["entity_id"])
