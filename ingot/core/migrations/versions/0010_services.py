"""Add services of projects."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add services of projects."""
    op.create_table(
        "services",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
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
        sa.PrimaryKeyConstraint("id", name=op.f("pk_services")),
        sa.UniqueConstraint("project_id", "slug", name=op.f("uq_services_project_id_slug")),
        sqlite_autoincrement=True,
    )
    # In words that both engines know: the embedded one takes no constraint of its own for a table that exists.
    kind = _IDENTIFIER.compile(op.get_bind().dialect)
    op.execute(
        f"ALTER TABLE hooks ADD COLUMN service_id {kind} "
        "CONSTRAINT fk_hooks_service_id REFERENCES services (id) ON DELETE CASCADE"
    )
    op.add_column("hooks", sa.Column("outfit", sa.LargeBinary(), nullable=True))
    op.create_index("ix_hooks_service_id", "hooks", ["service_id"], unique=True)
