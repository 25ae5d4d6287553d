"""Count the open issues of projects without confidential ones."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Count the open issues of projects without confidential ones."""
    projects = sa.table("projects", sa.column("id"), sa.column("open_issues_count"))
    counts = sa.table(
        "issue_counts",
        sa.column("project_id"),
        sa.column("state"),
        sa.column("confidential", sa.Boolean()),
        sa.column("count"),
    )
    shown = sa.select(sa.func.coalesce(sa.func.sum(counts.c.count), 0)).where(
        counts.c.project_id == projects.c.id, counts.c.state == "opened", counts.c.confidential.is_(False)
    )
    op.execute(projects.update().values(open_issues_count=shown.scalar_subquery()))
