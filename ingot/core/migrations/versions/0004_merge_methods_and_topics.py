"""Add merge methods and a row for each topic."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add merge methods and a row for each topic."""
    op.add_column("projects", sa.Column("merge_method", sa.Text(), nullable=False, server_default="merge"))
    op.add_column("projects", sa.Column("squash_option", sa.Text(), nullable=False, server_default="default_off"))
    op.add_column(
        "projects",
        sa.Column("remove_source_branch_after_merge", sa.Boolean(), nullable=False, server_default=sa.true()),
    )
    op.add_column("topics", sa.Column("described", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.execute(
        "INSERT INTO topics (name, name_key, title, title_key, created_at, updated_at, described) "
        "SELECT min(t.name), t.name_key, min(t.name), t.name_key, min(p.created_at), min(p.created_at), false "
        "FROM project_topics t JOIN projects p ON p.id = t.project_id "
        "WHERE NOT EXISTS (SELECT 1 FROM topics WHERE topics.name_key = t.name_key) GROUP BY t.name_key"
    )
    op.add_column(
        "namespaces", sa.Column("project_creation_level", sa.Text(), nullable=False, server_default="maintainer")
    )
