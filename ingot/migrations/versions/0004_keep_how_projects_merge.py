"""Keep how projects merge."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Keep how projects merge."""
    op.add_column("projects", sa.Column("merge_method", sa.Text(), nullable=False, server_default="merge"))
    op.add_column("projects", sa.Column("squash_option", sa.Text(), nullable=False, server_default="default_off"))
    op.add_column(
        "projects",
        sa.Column("remove_source_branch_after_merge", sa.Boolean(), nullable=False, server_default=sa.true()),
    )
