"""Permissions of pipelines and commit comments, and derived statuses, as tables."""

from pathlib import Path

import msgspec
import pytest

from ingot.collaboration.notes.policy import may_comment_on_code
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.times import Timestamp
from ingot.git.core.repository import Repository
from ingot.pipelines.outcome import StatusPart, combined_status, mean_coverage, total_duration
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project
from ingot.repositories.commit_statuses.policy import may_read_pipelines
from ingot.repositories.context import RepositoryContext
from tests.client import Make
from tests.factories import make_project

USER = Actor(user_id=7, username="u", via="private")
EXTERNAL = Actor(user_id=8, username="e", external=True, via="private")
ROOT = Actor(user_id=1, username="root", admin=True, via="private")


@pytest.fixture(scope="module")
def sample(make: Make) -> Project:
    """Record to modify."""
    made = make_project(make)
    return make.database.read(lambda db: existing_project(db, made.id))


def call_context(project: Project, here: Access, **changed: object) -> RepositoryContext:
    """Return the context of a call."""
    return RepositoryContext(here, msgspec.structs.replace(project, **changed), Repository(Path()))


CASES = [
    # Caller, level and project; whether they see pipelines (with public and private jobs), and may comment.
    (ANONYMOUS, Level.NONE, "public", True, True, False),
    (ANONYMOUS, Level.NONE, "internal", False, False, False),
    (ANONYMOUS, Level.NONE, "private", False, False, False),
    (USER, Level.NONE, "public", True, True, True),
    (USER, Level.NONE, "internal", True, True, True),
    (USER, Level.NONE, "private", False, False, False),
    (EXTERNAL, Level.NONE, "internal", False, False, False),
    (EXTERNAL, Level.GUEST, "internal", True, False, False),
    (USER, Level.GUEST, "private", True, False, False),
    (USER, Level.REPORTER, "private", True, True, True),
    (USER, Level.DEVELOPER, "private", True, True, True),
    (ROOT, Level.NONE, "private", True, True, True),
]


@pytest.mark.parametrize(("actor", "level", "visibility", "shown", "hidden", "comments"), CASES)
def test_permissions(
    sample: Project, actor: Actor, level: Level, visibility: str, shown: bool, hidden: bool, comments: bool
) -> None:
    here = Access(level=level)
    for jobs, expected in ((True, shown), (False, hidden)):
        assert (
            may_read_pipelines(actor, here, call_context(sample, here, visibility=visibility, public_jobs=jobs))
            is expected
        )
    there = call_context(sample, here, visibility=visibility)
    assert may_comment_on_code(actor, here, there) is comments
    archived = call_context(sample, here, visibility=visibility, archived=True)
    assert may_comment_on_code(actor, here, archived) is False
    assert may_read_pipelines(actor, here, archived) is may_read_pipelines(actor, here, there)


# Statuses, one that is allowed to fail with a question mark, and the derived status.
OUTCOMES = [
    ("", "skipped"),
    ("skipped", "skipped"),
    ("skipped failed?", "success"),
    ("skipped manual?", "skipped"),
    ("failed?", "success"),
    ("canceled?", "success"),
    ("manual?", "skipped"),
    ("success", "success"),
    ("success failed?", "success"),
    ("success skipped", "success"),
    ("success success?", "success"),
    ("created", "created"),
    ("created skipped", "pending"),
    ("created pending", "pending"),
    ("pending skipped", "pending"),
    ("pending success", "running"),
    ("pending?", "pending"),
    ("running failed", "running"),
    ("running? success", "running"),
    ("canceled success skipped", "canceled"),
    ("canceled", "canceled"),
    ("canceled failed", "failed"),
    ("manual success", "manual"),
    ("manual running", "running"),
    ("manual created", "manual"),
    ("created success", "running"),
    ("created failed", "running"),
    ("failed success", "failed"),
    ("failed skipped", "failed"),
]


@pytest.mark.parametrize(("said", "status"), OUTCOMES)
def test_derived_status(said: str, status: str) -> None:
    parts = [StatusPart(each.rstrip("?"), each.endswith("?")) for each in said.split()]  # type: ignore[arg-type] # Words of the table.
    assert combined_status(parts) == combined_status(reversed(parts)) == status


def test_coverage_is_the_mean_of_reported_values() -> None:
    assert mean_coverage([]) is mean_coverage([StatusPart("success")]) is None
    assert (
        mean_coverage(
            [StatusPart("success", coverage=80.0), StatusPart("failed", coverage=91.0), StatusPart("success")]
        )
        == 85.5
    )


def test_parallel_time_counts_once() -> None:
    def at(second: int) -> Timestamp:
        return Timestamp(f"2026-01-01T00:00:{second:02d}.000Z")

    def ran(begin: int, end: int | None, status: str = "success") -> StatusPart:
        return StatusPart(status, False, None, at(begin), None if end is None else at(end))  # type: ignore[arg-type] # As above.

    assert total_duration([], at(50)) == total_duration([StatusPart("success", finished_at=at(9))], at(50)) == 0
    assert total_duration([ran(10, 20), ran(0, 5)], at(50)) == 15
    assert total_duration([ran(0, 10), ran(5, 20), ran(6, 7)], at(50)) == 20
    assert total_duration([ran(0, 10), ran(45, None, "running")], at(50)) == 15
    assert total_duration([ran(0, 10, "pending")], at(50)) == 0
