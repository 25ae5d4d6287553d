"""Finding what people wrote in a project: only about what the caller may see, and only what they may read of it."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, or_, select

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.db.connection import Connection
from ingot.db.expressions import any_of, contains_as_written, like_pattern
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.db.search import holding, is_indexed, needle_as_written
from ingot.issues.policy import may_read_issues, seen_though_confidential
from ingot.issues.tables import issue_assignees, issues
from ingot.merge_requests.policy import may_read_merge_requests
from ingot.merge_requests.tables import merge_requests
from ingot.notes.tables import Note, notes
from ingot.projects.policy import may_download_code
from ingot.projects.tables import Project
from ingot.snippets.policy import may_read_snippets, open_or_own
from ingot.snippets.tables import snippets

_MINE = or_(
    issues.c.author_id == bindparam("actor"),
    exists().where(issue_assignees.c.issue_id == issues.c.id, issue_assignees.c.user_id == bindparam("actor")),
)
_OPEN = notes.c.internal.is_(False)
_THE_ISSUE = and_(issues.c.id == notes.c.subject_id, issues.c.deleted_at.is_(None))
_THE_MERGE_REQUEST = and_(merge_requests.c.id == notes.c.subject_id, merge_requests.c.deleted_at.is_(None))
_THE_SNIPPET = snippets.c.id == notes.c.subject_id


def _about(kind: str, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(notes.c.subject_kind == kind, *conditions)


# What may be read about subjects of each kind, by those who see all of them and by those who see some.
_READABLE: dict[str, ColumnElement[bool]] = {
    "all issues": _about("issue", exists().where(_THE_ISSUE)),
    "seen issues": _about("issue", exists().where(_THE_ISSUE, seen_though_confidential(), or_(_OPEN, _MINE))),
    "all merge requests": _about("merge_request", exists().where(_THE_MERGE_REQUEST)),
    "seen merge requests": _about("merge_request", _OPEN, exists().where(_THE_MERGE_REQUEST)),
    "all snippets": _about("snippet", _OPEN, exists().where(_THE_SNIPPET)),
    "open snippets": _about("snippet", _OPEN, exists().where(_THE_SNIPPET, open_or_own(external=False))),
    "public snippets": _about("snippet", _OPEN, exists().where(_THE_SNIPPET, open_or_own(external=True))),
    "commits": _about("commit", _OPEN),
}
Reads = Callable[[Actor, Access, Project], str | None]


def _issues(actor: Actor, here: Access, project: Project) -> str | None:
    if not may_read_issues(actor, here, project):
        return None
    return "all issues" if here.level >= Level.REPORTER or actor.admin else "seen issues"


def _merge_requests(actor: Actor, here: Access, project: Project) -> str | None:
    if not may_read_merge_requests(actor, here, project):
        return None
    return "all merge requests" if here.level >= Level.REPORTER or actor.admin else "seen merge requests"


def _snippets(actor: Actor, here: Access, project: Project) -> str | None:
    if not may_read_snippets(actor, here, project):
        return None
    if actor.admin:
        return "all snippets"
    return "public snippets" if actor.external and here.level < Level.GUEST else "open snippets"


def _commits(actor: Actor, here: Access, project: Project) -> str | None:
    return "commits" if may_download_code(actor, here, project) else None


# Each says which part of what is readable the caller reads in a project; a further kind of subject is one more.
READS: tuple[Reads, ...] = (_issues, _merge_requests, _snippets, _commits)
# The numbers that subjects have in their project, where they have any, by kind.
IIDS: dict[str, Select[Any]] = {
    "issue": select(issues.c.id, issues.c.iid).where(any_of(issues.c.id, "subjects")),
    "merge_request": select(merge_requests.c.id, merge_requests.c.iid).where(any_of(merge_requests.c.id, "subjects")),
}


@lru_cache(maxsize=64)
def _list_query(readable: frozenset[str], short: bool, sort: str) -> ListQuery:
    found = contains_as_written(notes.c.body, "pattern")
    if not short:
        found = holding(notes.c.id, "needle", notes.c.body, as_written=True)
    matching = select(notes).where(
        found,
        notes.c.project_id == bindparam("project"),
        notes.c.system.is_(False),
        or_(*(_READABLE[name] for name in sorted(readable))),
    )
    return list_query(matching, notes.c.id, notes.c.id.asc() if sort == "asc" else notes.c.id.desc())


def search_notes(
    db: Connection, actor: Actor, here: Access, project: Project, text: str, page: Page, sort: str = "desc"
) -> Listing[Note]:
    """A page of the notes of a project that hold a text; what the system wrote is nobody's."""
    readable = frozenset(name for reads in READS if (name := reads(actor, here, project)) is not None)
    if not readable:
        return Listing([], page, 0)
    short = not is_indexed(text, as_written=True)
    values: dict[str, Any] = {"pattern": like_pattern(text)} if short else {"needle": needle_as_written(text)}
    values |= {"project": project.id, "actor": actor.user_id}
    return fetch_page(db, Note, _list_query(readable, short, sort), page, **values)


def iids_of_subjects(db: Connection, found: Sequence[Note]) -> dict[tuple[str, int | None], int]:
    """Which number in its project each note's subject has; one statement for each kind."""
    known: dict[tuple[str, int | None], int] = {}
    for kind, numbers in IIDS.items():
        subjects = sorted({note.subject_id for note in found if note.subject_kind == kind and note.subject_id})
        if subjects:
            known |= {(kind, number): iid for number, iid in db.rows(numbers, subjects=subjects)}
    return known
