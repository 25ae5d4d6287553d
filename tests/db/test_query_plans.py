"""Query plans that must use a selective index, since SQLite plans without statistics."""

from typing import Any

import pytest
from sqlalchemy import Select, select

from ingot.collaboration.merge_requests import pipelines
from ingot.collaboration.notes import queries as notes
from ingot.collaboration.participants import queries as participants
from ingot.webhooks import queries as webhooks
from ingot.webhooks import service as webhook_changes
from ingot.webhooks.tables import hooks
from tests.client import Make


def _plan(make: Make, statement: Select[Any], **values: Any) -> str:
    if make.database.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL plans with statistics")
    compiled = make.database.statements.compiled(statement)
    raw = make.database.engine.connect(read_only=True, typed=False)
    try:
        return str(raw.execute(f"EXPLAIN QUERY PLAN {compiled.text}", {**compiled.carried, **values}).fetchall())
    finally:
        raw.close()


@pytest.mark.parametrize("statement", [participants._SUBSCRIPTION, notes._WRITTEN_ON])
def test_notes_of_a_user_are_found_by_their_subject(make: Make, statement: Select[Any]) -> None:
    plan = _plan(make, statement, user=1, kind="issue", subject=1, subjects="[1]")
    assert "ix_notes_subject_kind_subject_id" in plan
    assert "ix_notes_author_id" not in plan


@pytest.mark.parametrize(
    "statement",
    [
        select(hooks.c.id).where(webhooks._OWNED["project"]),
        select(hooks.c.id).where(webhooks._OWNED["group"]),
        webhooks._PUSH_SUBSCRIBED,
        webhook_changes._COUNTS["project"],
        webhook_changes._COUNTS["group"],
    ],
)
def test_webhooks_are_found_by_their_owner(make: Make, statement: Select[Any]) -> None:
    """Nearly all webhooks belong to no service, so that index would find those of all owners."""
    assert "ix_hooks_service_id" not in _plan(make, statement, owner=1, project=1)


@pytest.mark.parametrize(
    "statement", [pipelines._HEAD_PIPELINE, pipelines._HEAD_PIPELINES, pipelines._PIPELINES.by_number]
)
def test_pipelines_of_merge_requests_are_found_by_their_commit(make: Make, statement: Select[Any]) -> None:
    """A project may have thousands of pipelines."""
    values = dict.fromkeys(("project", "target", "merge_request", "branch", "head", "page_size", "page_offset"), 1)
    plan = _plan(make, statement, **values, projects="[1]", heads="[1]")
    assert "ix_pipelines_project_id_sha" in plan
    assert "ix_pipelines_project_id_ref" not in plan
