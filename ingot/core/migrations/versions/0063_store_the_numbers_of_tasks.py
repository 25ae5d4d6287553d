"""Store the numbers of tasks of issues and merge requests."""

import sqlalchemy as sa
from alembic import op

from ingot.core.markup.tasks import count_tasks

revision = "0063"
down_revision = "0062"
_BATCH = 1_000


def upgrade() -> None:
    """Add the numbers, and count the tasks of descriptions that may have some."""
    for name in ("issues", "merge_requests"):
        op.add_column(name, sa.Column("task_count", sa.BigInteger(), nullable=True))
        op.add_column(name, sa.Column("completed_task_count", sa.BigInteger(), nullable=True))
        _count(name)


def _count(name: str) -> None:
    table = sa.table(name, *map(sa.column, ("id", "description", "task_count", "completed_task_count")))
    may_have_tasks = table.c.description.like("%[_]%")
    without = sa.update(table).where(sa.or_(table.c.description.is_(None), sa.not_(may_have_tasks)))
    op.get_bind().execute(without.values(task_count=0, completed_task_count=0))
    boxed = sa.select(table.c.id, table.c.description).where(may_have_tasks)
    store = sa.update(table).where(table.c.id == sa.bindparam("row"))
    store = store.values(task_count=sa.bindparam("total"), completed_task_count=sa.bindparam("done"))
    last = 0
    while batch := op.get_bind().execute(boxed.where(table.c.id > last).order_by(table.c.id).limit(_BATCH)).fetchall():
        last = batch[-1].id
        counted = ((row.id, count_tasks(row.description)) for row in batch)
        op.get_bind().execute(
            store, [{"row": row_id, "total": counts.total, "done": counts.done} for row_id, counts in counted]
        )
