"""Permissions of notes, as tables of cases without a database."""

from typing import Any

import pytest

from ingot.collaboration.emoji.policy import may_give_award, may_remove_award
from ingot.collaboration.emoji.tables import Award
from ingot.collaboration.issues.discussions.policy import issue_subject_access
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.notes.policy import may_edit_note, may_write_notes
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.tables import Project

ANN, BOB = Actor(user_id=1, username="ann"), Actor(user_id=2, username="bob")
ROOT = Actor(user_id=4, username="root", admin=True)
ISSUE = Subject("issue", 1, 7, 1, author_id=ANN.user_id)


def _filled(record: Any, **columns: Any) -> Any:
    return record(**{**dict.fromkeys(record.__struct_fields__), **columns})


def _found(
    access: Access, *, locked: bool = False, archived: bool = False, assignees: tuple[int, ...] = ()
) -> IssueLookup:
    project = _filled(Project, id=1, visibility="public", issues_enabled=True, archived=archived)
    issue = _filled(Issue, id=7, author_id=ANN.user_id, discussion_locked=locked)
    return IssueLookup(access, project, issue, assignees)


def _note(reached: SubjectAccess) -> set[str]:
    return {name for name, value in reached._asdict().items() if value is True}


TALKS, READS = "may_participate", "may_see_internal"
WORKS = {TALKS, READS, "may_write_internal"}
MODERATES = WORKS | {"may_moderate"}
OWNS = MODERATES | {"may_set_times"}
REACHES: list[tuple[Actor, Level, set[str]]] = [
    (ANONYMOUS, Level.NONE, set()),
    (BOB, Level.NONE, {TALKS}),
    (ANN, Level.NONE, {TALKS, READS}),
    (BOB, Level.GUEST, {TALKS}),
    (BOB, Level.REPORTER, WORKS),
    (BOB, Level.DEVELOPER, WORKS),
    (BOB, Level.MASTER, MODERATES),
    (BOB, Level.OWNER, OWNS),
    (ROOT, Level.NONE, OWNS),
]


@pytest.mark.parametrize(("actor", "level", "words"), REACHES)
def test_permissions_below_an_issue(actor: Actor, level: Level, words: set[str]) -> None:
    """Open, locked and archived; authors and assignees read more than others."""
    here = Access(level)
    assert _note(issue_subject_access(actor, here, _found(here), ISSUE)) == words
    belongs = level >= Level.GUEST or actor.admin
    assert _note(issue_subject_access(actor, here, _found(here, locked=True), ISSUE)) == (
        words if belongs else words - {TALKS}
    )
    assert _note(issue_subject_access(actor, here, _found(here, archived=True), ISSUE)) == words - {TALKS}
    assigned = _found(here, assignees=(BOB.user_id,))
    assert _note(issue_subject_access(actor, here, assigned, ISSUE)) == words | ({READS} if actor is BOB else set())


@pytest.mark.parametrize(
    ("actor", "takes_part", "moderates", "system", "may"),
    [
        (ANN, True, False, False, True),
        (ANN, False, False, False, False),
        (ANN, True, False, True, False),
        (BOB, True, False, False, False),
        (BOB, True, True, False, True),
        (BOB, True, True, True, False),
        (BOB, False, True, False, False),
    ],
)
def test_permission_to_edit_a_note(actor: Actor, takes_part: bool, moderates: bool, system: bool, may: bool) -> None:
    """Authors and moderators with write access; never system notes."""
    note = _filled(Note, id=1, author_id=ANN.user_id, system=system)
    assert may_edit_note(actor, SubjectAccess(ISSUE, takes_part, moderates), note) is may


def test_permission_to_write_and_award() -> None:
    """Participating users; no votes for own notes, and only own awards are removed."""
    here = Access(Level.OWNER)
    assert may_write_notes(BOB, here, SubjectAccess(ISSUE, may_participate=True))
    assert not may_write_notes(ANONYMOUS, here, SubjectAccess(ISSUE, may_participate=True))
    assert not may_write_notes(BOB, here, SubjectAccess(ISSUE, may_participate=False))
    assert [may_give_award(ANN, ISSUE, name) for name in ("tada", "thumbsup", "thumbsdown")] == [True, False, False]
    assert [may_give_award(BOB, ISSUE, name) for name in ("tada", "thumbsup", "thumbsdown")] == [True, True, True]
    award = _filled(Award, id=1, user_id=ANN.user_id)
    assert [may_remove_award(actor, award) for actor in (ANN, BOB, ROOT)] == [True, False, True]
