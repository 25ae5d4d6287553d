"""Add Terraform states."""

import sqlalchemy as sa
from alembic import op

revision = "0069"
down_revision = "0068"


def upgrade() -> None:
    """Add Terraform states."""
    op.create_table(
        "terraform_states",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("lock_id", sa.Text(), nullable=True),
        sa.Column("lock_info", sa.Text(), nullable=True),
        sa.Column("locked_by_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("locked_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["locked_by_id"], ["users.id"], name=op.f("fk_terraform_states_locked_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_terraform_states_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_terraform_states")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_terraform_states_project_id_name")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("terraform_states", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_terraform_states_locked_by_id"), ["locked_by_id"], unique=False)

    op.create_table(
        "terraform_state_versions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("state_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("serial", sa.BigInteger(), nullable=False),
        sa.Column("created_by_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("storage_key", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("stored_size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name=op.f("fk_terraform_state_versions_created_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["commit_statuses.id"], name=op.f("fk_terraform_state_versions_job_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["state_id"], ["terraform_states.id"], name=op.f("fk_terraform_state_versions_state_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_terraform_state_versions")),
        sa.UniqueConstraint("state_id", "serial", name=op.f("uq_terraform_state_versions_state_id_serial")),
        sa.UniqueConstraint("storage_key", name=op.f("uq_terraform_state_versions_storage_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("terraform_state_versions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_terraform_state_versions_created_by_id"), ["created_by_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_terraform_state_versions_job_id"), ["job_id"], unique=False)
        batch_op.create_index("ix_terraform_state_versions_state_id", ["state_id", "id"], unique=False)
