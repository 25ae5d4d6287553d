"""Add downstream pipelines and the automatic stop of environments."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add downstream pipelines and the automatic stop of environments."""
    op.create_table(
        "downstream_pipelines",
        sa.Column("pipeline_id", _IDENTIFIER, nullable=False),
        sa.Column("job_id", _IDENTIFIER, nullable=False),
        sa.Column("upstream_id", _IDENTIFIER, nullable=False),
        sa.Column("root_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["ci_jobs.id"], name=op.f("fk_downstream_pipelines_job_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_downstream_pipelines_pipeline_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["upstream_id"], ["pipelines.id"], name=op.f("fk_downstream_pipelines_upstream_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pipeline_id", name=op.f("pk_downstream_pipelines")),
        sa.UniqueConstraint("job_id", name=op.f("uq_downstream_pipelines_job_id")),
    )
    op.create_index("ix_downstream_pipelines_root_id", "downstream_pipelines", ["root_id"])
    op.create_index(op.f("ix_downstream_pipelines_upstream_id"), "downstream_pipelines", ["upstream_id"])
    op.add_column("ci_jobs", sa.Column("bridge", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_index(
        "ix_ci_jobs_bridge",
        "ci_jobs",
        ["project_id"],
        sqlite_where=sa.text("bridge"),
        postgresql_where=sa.text("bridge"),
    )
    op.add_column("environments", sa.Column("auto_stop_at", sa.Text(), nullable=True))
    op.create_index(
        "ix_environments_auto_stop_at",
        "environments",
        ["auto_stop_at"],
        sqlite_where=sa.text("auto_stop_at IS NOT NULL"),
        postgresql_where=sa.text("auto_stop_at IS NOT NULL"),
    )
