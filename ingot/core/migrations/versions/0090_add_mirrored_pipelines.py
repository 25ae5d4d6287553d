"""Add mirrored pipelines."""

import sqlalchemy as sa
from alembic import op

revision = "0090"
down_revision = "0087"


def upgrade() -> None:
    """Add mirrored pipelines."""
    op.create_table(
        "mirrored_pipelines",
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("pipeline_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["ci_jobs.id"], name=op.f("fk_mirrored_pipelines_job_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_mirrored_pipelines_pipeline_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_mirrored_pipelines")),
    )
    with op.batch_alter_table("mirrored_pipelines", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_mirrored_pipelines_pipeline_id"), ["pipeline_id"], unique=False)
