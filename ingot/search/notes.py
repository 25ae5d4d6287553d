"""Search in the notes of a project that the caller may read."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, or_, select

from ingot.collaboration.issues.policy import may_read_issues, visible_below_reporter
from ingot.collaboration.issues.tables import issue_assignees, issues
from ingot.collaboration.merge_requests.policy import may_read_merge_requests
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.snippets.policy import may_read_snippets, visible_in_project
from ingot.collaboration.snippets.tables import snippets
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains_ignoring_case, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.search import is_indexed, search_term_ignoring_case, text_search
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project

_OWN_ISSUES = or_(
    issues.c.author_id == bindparam("actor"),
    exists().where(issue_assignees.c.issue_id == issues.c.id, issue_assignees.c.user_id == bindparam("actor")),
)
_NOT_INTERNAL = notes.c.internal.is_(False)
_NOTE_ISSUE = and_(issues.c.id == notes.c.subject_id, issues.c.deleted_at.is_(None))
_NOTE_MERGE_REQUEST = and_(merge_requests.c.id == notes.c.subject_id, merge_requests.c.deleted_at.is_(None))
_NOTE_SNIPPET = snippets.c.id == notes.c.subject_id


def _notes_on(kind: str, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(notes.c.subject_kind == kind, *conditions)


# Conditions for readable notes, per kind of subject and set of visible subjects.
_READABLE: dict[str, ColumnElement[bool]] = {
    "all issues": _notes_on("issue", exists().where(_NOTE_ISSUE)),
    "seen issues": _notes_on(
        "issue", exists().where(_NOTE_ISSUE, visible_below_reporter(), or_(_NOT_INTERNAL, _OWN_ISSUES))
    ),
    "all merge requests": _notes_on("merge_request", exists().where(_NOTE_MERGE_REQUEST)),
    "seen merge requests": _notes_on("merge_request", _NOT_INTERNAL, exists().where(_NOTE_MERGE_REQUEST)),
    "all snippets": _notes_on("snippet", _NOT_INTERNAL, exists().where(_NOTE_SNIPPET)),
    "open snippets": _notes_on(
        "snippet", _NOT_INTERNAL, exists().where(_NOTE_SNIPPET, visible_in_project(external=False))
    ),
    "public snippets": _notes_on(
        "snippet", _NOT_INTERNAL, exists().where(_NOTE_SNIPPET, visible_in_project(external=True))
    ),
    "commits": _notes_on("commit", _NOT_INTERNAL),
}
ReadableKind = Callable[[Actor, Access, Project], str | None]


def _readable_issues(actor: Actor, access: Access, project: Project) -> str | None:
    if not may_read_issues(actor, access, project):
        return None
    return "all issues" if access.level >= Level.REPORTER or actor.admin else "seen issues"


def _readable_merge_requests(actor: Actor, access: Access, project: Project) -> str | None:
    if not may_read_merge_requests(actor, access, project):
        return None
    return "all merge requests" if access.level >= Level.REPORTER or actor.admin else "seen merge requests"


def _readable_snippets(actor: Actor, access: Access, project: Project) -> str | None:
    if not may_read_snippets(actor, access, project):
        return None
    if actor.admin:
        return "all snippets"
    return "public snippets" if actor.external and access.level < Level.GUEST else "open snippets"


def _readable_commits(actor: Actor, access: Access, project: Project) -> str | None:
    return "commits" if may_download_code(actor, access, project) else None


# Each function returns the condition that applies to the caller in a project; one per kind of subject.
READABLE_KINDS: tuple[ReadableKind, ...] = (
    _readable_issues,
    _readable_merge_requests,
    _readable_snippets,
    _readable_commits,
)
# Numbers of subjects in their project, by kind.
IIDS: dict[str, Select[Any]] = {
    "issue": select(issues.c.id, issues.c.iid).where(in_list(issues.c.id, "subjects")),
    "merge_request": select(merge_requests.c.id, merge_requests.c.iid).where(in_list(merge_requests.c.id, "subjects")),
}


@lru_cache(maxsize=64)
def _list_query(readable: frozenset[str], short: bool, sort: str) -> ListQuery:
    contains_text = contains_ignoring_case(notes.c.body, "pattern")
    if not short:
        contains_text = text_search(notes.c.id, "needle", notes.c.body, as_written=True)
    matching = select(notes).where(
        contains_text,
        notes.c.project_id == bindparam("project"),
        notes.c.system.is_(False),
        or_(*(_READABLE[name] for name in sorted(readable))),
    )
    return list_query(matching, notes.c.id, notes.c.id.asc() if sort == "asc" else notes.c.id.desc())


def search_notes(
    db: Connection, actor: Actor, access: Access, project: Project, text: str, page: Page, sort: str = "desc"
) -> Listing[Note]:
    """List a page of a project's notes that contain a text, without system notes."""
    readable = frozenset(
        name for readable_kind in READABLE_KINDS if (name := readable_kind(actor, access, project)) is not None
    )
    if not readable:
        return Listing([], page, 0)
    short = not is_indexed(text, as_written=True)
    values: dict[str, Any] = {"pattern": like_pattern(text)} if short else {"needle": search_term_ignoring_case(text)}
    values |= {"project": project.id, "actor": actor.user_id}
    return fetch_page(db, Note, _list_query(readable, short, sort), page, **values)


def iids_of_subjects(db: Connection, notes_found: Sequence[Note]) -> dict[tuple[str, int | None], int]:
    """Return the number in the project of each note's subject, with one statement per kind."""
    iids: dict[tuple[str, int | None], int] = {}
    for kind, query in IIDS.items():
        subjects = sorted({note.subject_id for note in notes_found if note.subject_kind == kind and note.subject_id})
        if subjects:
            iids |= {(kind, subject_id): iid for subject_id, iid in db.rows(query, subjects=subjects)}
    return iids
