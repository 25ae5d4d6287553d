"""Query plans that must use a selective index, since SQLite plans without statistics."""

import pytest
from sqlalchemy import Select

from ingot.collaboration.notes import queries as notes
from ingot.collaboration.participants import queries as participants
from tests.client import Make


@pytest.mark.parametrize("statement", [participants._SUBSCRIPTION, notes._WRITTEN_ON])
def test_notes_of_a_user_are_found_by_their_subject(make: Make, statement: Select[tuple[object]]) -> None:
    if make.database.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL plans with statistics")
    raw = make.database.engine.connect(read_only=True, typed=False)
    values = {"user": 1, "kind": "issue", "subject": 1, "subjects": "[1]"}
    try:
        plan = raw.execute(f"EXPLAIN QUERY PLAN {make.database.statements.compiled(statement).text}", values).fetchall()
    finally:
        raw.close()
    assert "ix_notes_subject_kind_subject_id" in str(plan)
    assert "ix_notes_author_id" not in str(plan)
