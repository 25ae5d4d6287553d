"""SQL that must be written so that indexes serve it."""

import pytest
from sqlalchemy import and_, or_, select

from ingot.db.expressions import any_of, unindexed
from ingot.projects.tables import projects
from ingot.users.accounts.tables import users
from tests.client import Make


@pytest.mark.parametrize("around", [and_, or_])
def test_one_of_a_list_is_looked_up_by_its_index(make: Make, around: object) -> None:
    """SQLAlchemy compares conditions with 1 where an engine has no booleans, and then every row is read."""
    condition = around(any_of(users.c.id, "some"), any_of(users.c.id, "others"))  # type: ignore[operator]
    for statement in (select(users.c.id).where(condition), select(users.c.id).where(any_of(users.c.id, "some"))):
        text = make.database.statements.compiled(statement).text
        assert "= 1" not in text
        found = make.database.read(lambda db, of=statement: db.rows(of, some=[1], others=[1]))
        assert found == [(1,)]
    not_one = select(users.c.id).where(~any_of(users.c.id, "some"), users.c.id < 3)
    assert make.database.read(lambda db: db.rows(not_one, some=[1])) == [(2,)]


def test_a_column_can_be_kept_from_its_index(make: Make) -> None:
    """Which index is best is known to whoever writes a list, and not to an engine without statistics."""
    statement = select(projects.c.id).where(unindexed(projects.c.id) == 1)
    if make.database.engine.dialect.name != "sqlite":
        return

    def plan(db: object) -> str:
        text = make.database.statements.compiled(statement).text
        rows = db._raw.execute(f"EXPLAIN QUERY PLAN {text}", {"param_1": 1}).fetchall()  # type: ignore[attr-defined]
        return " ".join(row[3] for row in rows)

    assert "SEARCH" not in make.database.read(plan)
