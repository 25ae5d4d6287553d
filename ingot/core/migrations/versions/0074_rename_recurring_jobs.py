"""Rename the recurring jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0074"
down_revision = "0071"


def upgrade() -> None:
    """Delete the recurring jobs that are named after modules.

    The next worker inserts them again under the names of their functions.
    """
    recurring = sa.table("recurring_jobs", sa.column("name"))
    jobs = sa.table("jobs", sa.column("kind"))
    op.execute(recurring.delete().where(recurring.c.name.like("ingot.%")))
    op.execute(jobs.delete().where(jobs.c.kind.like("recurring:ingot.%")))
