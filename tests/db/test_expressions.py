"""SQL expressions that can use indexes."""

from functools import partial

import pytest
from sqlalchemy import and_, or_, select

from ingot.accounts.users.tables import users
from ingot.collaboration.merge_requests.tables import MERGE_REQUEST_COLUMNS, MergeRequest, merge_requests
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, list_as_table, packed_columns, without_index
from ingot.projects.projects.tables import projects
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Make


@pytest.mark.parametrize("around", [and_, or_])
def test_membership_in_a_list_uses_the_index(make: Make, around: object) -> None:
    """SQLAlchemy compares conditions with 1 on engines without booleans, which would read every row."""
    condition = around(in_list(users.c.id, "some"), in_list(users.c.id, "others"))  # type: ignore[operator]
    for statement in (select(users.c.id).where(condition), select(users.c.id).where(in_list(users.c.id, "some"))):
        text = make.database.statements.compiled(statement).text
        assert "= 1" not in text
        found = make.database.read(partial(Connection.rows, statement=statement, some=[1], others=[1]))
        assert found == [(1,)]
    not_one = select(users.c.id).where(~in_list(users.c.id, "some"), users.c.id < 3)
    assert make.database.read(lambda db: db.rows(not_one, some=[1])) == [(2,)]


def test_a_column_can_be_excluded_from_its_index(make: Make) -> None:
    """The author of a list knows the best index, and an engine without statistics does not."""
    statement = select(projects.c.id).where(without_index(projects.c.id) == 1)
    if make.database.engine.dialect.name != "sqlite":
        return

    def plan(db: object) -> str:
        text = make.database.statements.compiled(statement).text
        rows = db._raw.execute(f"EXPLAIN QUERY PLAN {text}", {"param_1": 1}).fetchall()  # type: ignore[attr-defined]
        return " ".join(row[3] for row in rows)

    assert "SEARCH" not in make.database.read(plan)


def test_a_list_as_a_table(make: Make) -> None:
    """Texts are returned unchanged."""
    texts = ["b", "a", "", "1", 'ü"\\\n', "b"]
    each = list_as_table("texts").table_valued("value")
    assert make.database.read(lambda db: db.rows(select(each.c.value), texts=texts)) == [(text,) for text in texts]
    assert make.database.read(lambda db: db.rows(select(each.c.value), texts=[])) == []


@pytest.mark.parametrize("text", ["Plain", "null", "true", "1", 'ünï "quoted" \\ \n\t🦊', "x" * 100_000])
def test_records_in_json_are_restored(make: Make, text: str) -> None:
    """Including texts that look like other types, and booleans."""
    project = filled_project(make)
    made = make_merge_request(make, project, description=text, squash=True)
    this = merge_requests.c.id == made["id"]
    plain, in_one = (
        select(*MERGE_REQUEST_COLUMNS).where(this),
        select(packed_columns(MERGE_REQUEST_COLUMNS)).select_from(merge_requests),
    )
    expected = make.database.read(lambda db: db.all(MergeRequest, plain))
    found = make.database.read(lambda db: db.all(MergeRequest, in_one.where(this)))
    for name in MergeRequest.__struct_fields__:
        one, other = getattr(expected[0], name), getattr(found[0], name)
        assert (one, type(one)) == (other, type(other)), name
    assert (found[0].squash, found[0].description) == (True, text)
