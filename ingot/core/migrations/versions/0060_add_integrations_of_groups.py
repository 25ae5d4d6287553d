"""Add integrations of groups."""

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0059"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Let a service belong to a group instead of a project."""
    if op.get_bind().dialect.name == "sqlite":
        _rebuild()
        return
    op.alter_column("services", "project_id", existing_type=_IDENTIFIER, nullable=True)
    op.add_column("services", sa.Column("group_id", _IDENTIFIER, nullable=True))
    op.create_foreign_key("fk_services_group_id", "services", "namespaces", ["group_id"], ["id"], ondelete="CASCADE")
    op.create_unique_constraint("uq_services_group_id_slug", "services", ["group_id", "slug"])


def _rebuild() -> None:
    """Copy the table, since SQLite cannot make a column optional.

    Dropping the old table would delete the webhooks that refer to it, and the ids of deleted rows would be used again.
    A batch operation would write the constraints in a different order each time.
    """
    bind = op.get_bind()
    last_id = bind.exec_driver_sql("SELECT max(seq) FROM sqlite_sequence WHERE name = 'services'").scalar()
    webhooks = bind.exec_driver_sql("SELECT service_id, id FROM hooks WHERE service_id IS NOT NULL").fetchall()
    bind.exec_driver_sql("UPDATE hooks SET service_id = NULL WHERE service_id IS NOT NULL")
    op.create_table(
        "new_services",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("properties", sa.Text(), nullable=False),
        sa.Column("secrets", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_services_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["group_id"], ["namespaces.id"], name=op.f("fk_services_group_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_services")),
        sa.UniqueConstraint("project_id", "slug", name=op.f("uq_services_project_id_slug")),
        sa.UniqueConstraint("group_id", "slug", name=op.f("uq_services_group_id_slug")),
        sqlite_autoincrement=True,
    )
    bind.exec_driver_sql(
        "INSERT INTO new_services SELECT id, project_id, NULL, slug, active, events, properties, secrets, created_at, "
        "updated_at FROM services"
    )
    bind.exec_driver_sql("DROP TABLE services")
    bind.exec_driver_sql("ALTER TABLE new_services RENAME TO services")
    for service_id, hook_id in webhooks:
        bind.exec_driver_sql("UPDATE hooks SET service_id = ? WHERE id = ?", (service_id, hook_id))
    if last_id is not None:
        bind.exec_driver_sql("UPDATE sqlite_sequence SET seq = ? WHERE name = 'services'", (last_id,))
