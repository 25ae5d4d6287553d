"""Permissions of labels, milestones and boards."""

from types import SimpleNamespace
from typing import Any

import pytest

from ingot.collaboration.boards import policy as boards
from ingot.collaboration.labels import policy as labels
from ingot.collaboration.milestones import policy as milestones
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.options import ProjectOptions

USER = Actor(user_id=2, username="user", name="User")
ADMIN = Actor(user_id=1, username="root", name="Root", admin=True)
EXTERNAL = Actor(user_id=3, username="external", name="External", external=True)


def _project(visibility: str = "private", **flags: bool) -> Any:
    features = {"issues_enabled": True, "merge_requests_enabled": True, "archived": False, **flags}
    return SimpleNamespace(visibility=visibility, options=ProjectOptions(), **features)


# Caller, level and visibility: whether they read and whether they write.
CALLERS: list[tuple[Actor, Level, str, bool, bool]] = [
    (ANONYMOUS, Level.NONE, "private", False, False),
    (ANONYMOUS, Level.NONE, "internal", False, False),
    (ANONYMOUS, Level.NONE, "public", True, False),
    (USER, Level.NONE, "private", False, False),
    (USER, Level.NONE, "internal", True, False),
    (EXTERNAL, Level.NONE, "internal", False, False),
    (EXTERNAL, Level.NONE, "public", True, False),
    (EXTERNAL, Level.REPORTER, "private", True, True),
    (USER, Level.GUEST, "private", True, False),
    (USER, Level.GUEST, "public", True, False),
    (USER, Level.REPORTER, "private", True, True),
    (USER, Level.MASTER, "public", True, True),
    (ADMIN, Level.NONE, "private", True, True),
]


def _of_labels(rule: Any) -> Any:
    """Return a rule on a parent as one on a project."""
    return lambda actor, here, project: rule(actor, here, labels.LabelProjectLookup(here, project))


RULES = [
    (_of_labels(labels.may_read_labels), _of_labels(labels.may_admin_labels)),
    (milestones.may_read_milestones, milestones.may_admin_milestones),
    (boards.may_read_boards, boards.may_admin_boards),
]


@pytest.mark.parametrize(("reading", "writing"), RULES)
@pytest.mark.parametrize(("actor", "level", "visibility", "reads", "writes"), CALLERS)
def test_projects(
    reading: Any, writing: Any, actor: Actor, level: Level, visibility: str, reads: bool, writes: bool
) -> None:
    here, project = Access(level=level), _project(visibility)
    assert (reading(actor, here, project), writing(actor, here, project)) == (reads, writes)
    archived = _project(visibility, archived=True)
    assert (reading(actor, here, archived), writing(actor, here, archived)) == (reads, False)
    nothing = _project(visibility, issues_enabled=False, merge_requests_enabled=False)
    assert (reading(actor, here, nothing), writing(actor, here, nothing)) == (False, False)
    requests = _project(visibility, issues_enabled=False)
    on_requests = reading is not boards.may_read_boards
    assert reading(actor, here, requests) is (reads and on_requests)
    assert writing(actor, here, requests) is (writes and on_requests)


@pytest.mark.parametrize(("actor", "level", "visibility", "reads", "_"), CALLERS)
def test_permission_to_subscribe(actor: Actor, level: Level, visibility: str, reads: bool, _: bool) -> None:
    here, may_follow = Access(level=level), _of_labels(labels.may_subscribe_to_labels)
    assert may_follow(actor, here, _project(visibility)) is (reads and actor.known)
    assert not may_follow(actor, here, _project(visibility, archived=True))


@pytest.mark.parametrize(
    "rule", [labels.may_admin_group_labels, milestones.may_admin_group_milestones, boards.may_admin_group_boards]
)
def test_groups(rule: Any) -> None:
    group = SimpleNamespace(visibility="public")
    for level in Level:
        assert rule(USER, Access(level=level), group) is (level >= Level.REPORTER)
    assert rule(ADMIN, Access(), group)
    assert not rule(ANONYMOUS, Access(), group)
    assert not rule(USER, Access(inside=True), group)
