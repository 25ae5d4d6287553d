"""Add the commits of which a pipeline tests the merge."""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"


def upgrade() -> None:
    """Add the head and the target of tested merges; older pipelines tested heads."""
    op.add_column("pipelines", sa.Column("source_sha", sa.Text(), nullable=True))
    op.add_column("pipelines", sa.Column("target_sha", sa.Text(), nullable=True))
    present = sa.text("source_sha IS NOT NULL")
    op.create_index(
        "ix_pipelines_source_sha",
        "pipelines",
        ["project_id", "source_sha", "id"],
        sqlite_where=present,
        postgresql_where=present,
    )
