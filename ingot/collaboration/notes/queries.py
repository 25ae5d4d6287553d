"""Queries of notes and discussions."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, bindparam, exists, not_, or_, select

from ingot.collaboration.notes.params import ListNotes
from ingot.collaboration.notes.tables import Note, NoteSuggestion, notes, suggestions
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern, without_index
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import Invalid, NotFound
from ingot.projects.projects.feature_access import is_open_to_all
from ingot.projects.projects.policy import readable_projects, visible_projects
from ingot.projects.projects.tables import projects

COMMIT: Literal["commit"] = "commit"

_BY_ID = select(notes).where(notes.c.id == bindparam("note"))
MAX_CONTAINING = 200
"""Limit of the notes that are scanned for mentions when a subject becomes visible to more users."""
_CONTAINING = (
    select(notes)
    .where(
        notes.c.subject_kind == bindparam("kind"),
        notes.c.subject_id == bindparam("subject"),
        notes.c.system.is_(False),
        notes.c.internal.is_(False),
        contains(notes.c.body, "pattern"),
    )
    .order_by(notes.c.id.desc())
    .limit(bindparam("most"))
)
# Without the index on authors, which SQLite would prefer: some authors have a million notes, few subjects a hundred.
_WRITTEN_ON = (
    select(notes.c.subject_id)
    .where(
        notes.c.subject_kind == bindparam("kind"),
        in_list(notes.c.subject_id, "subjects"),
        without_index(notes.c.author_id) == bindparam("user"),
        notes.c.system.is_(False),
    )
    .distinct()
)
_ON_COMMIT = list_query(
    select(notes).where(
        notes.c.project_id == bindparam("project"),
        notes.c.commit_oid == bindparam("oid"),
        notes.c.subject_kind == COMMIT,
    ),
    notes.c.id,
    notes.c.id.asc(),
)
_MAX_LINE_COMMENTS = 1_000
_ON_LINES = (
    select(notes)
    .where(
        notes.c.project_id == bindparam("project"),
        notes.c.commit_oid == bindparam("oid"),
        notes.c.subject_kind == COMMIT,
        notes.c.new_path.is_not(None),
    )
    .order_by(notes.c.id)
    .limit(_MAX_LINE_COMMENTS)
)
_EARLIER = notes.alias("earlier")
_ABOUT: dict[str, ColumnElement[bool]] = {
    "commit": (notes.c.project_id == bindparam("project"))
    & (notes.c.commit_oid == bindparam("oid"))
    & (notes.c.subject_kind == COMMIT),
    "row": (notes.c.subject_kind == bindparam("kind")) & (notes.c.subject_id == bindparam("subject")),
}

SUGGESTION_MARK = "suggestion"
"""Text of every note with suggestions; others need no query."""
_SUGGESTIONS_OF = (
    select(suggestions)
    .where(in_list(suggestions.c.note_id, "notes"))
    .order_by(suggestions.c.note_id, suggestions.c.relative_order)
)


def _mention_source_visible(*, external: bool) -> ColumnElement[bool]:
    """Return the condition that the viewer can see the source of a cross-reference.

    Notes without a source are always visible. Sources other than issues require read access to the code.
    """
    source_project = projects.c.id == notes.c.source_project_id
    visible_issues = exists().where(
        source_project,
        projects.c.issues_enabled.is_(True),
        visible_projects(external=external, opened=is_open_to_all("issues")),
    )
    visible_merge_requests = exists().where(
        source_project,
        projects.c.merge_requests_enabled.is_(True),
        readable_projects(external=external, opened=is_open_to_all("merge_requests")),
    )
    from_issue, from_merge_request = (notes.c.source_kind == kind for kind in ("issue", "merge_request"))
    from_other = not_(or_(from_issue, from_merge_request))
    return or_(
        notes.c.source_project_id.is_(None),
        and_(from_issue, or_(notes.c.source_project_id == notes.c.project_id, visible_issues)),
        and_(from_merge_request, visible_merge_requests),
        and_(from_other, exists().where(source_project, readable_projects(external=external))),
    )


_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "not_internal": notes.c.internal.is_(False),
    "seen": _mention_source_visible(external=False),
    "seen_by_external": _mention_source_visible(external=True),
    "seen_by_administrator": or_(
        notes.c.source_project_id.is_(None),
        notes.c.source_project_id == notes.c.project_id,
        exists().where(projects.c.id == notes.c.source_project_id, projects.c.namespace_id.is_not(None)),
    ),
    "only_comments": notes.c.system.is_(False),
    "only_activity": notes.c.system.is_(True),
    "by_number": notes.c.id == bindparam("note"),
    "by_numbers": in_list(notes.c.id, "notes"),
    "of_discussion": notes.c.discussion_id == bindparam("discussion"),
    "of_discussions": in_list(notes.c.discussion_id, "discussions"),
    "first": ~exists().where(_EARLIER.c.discussion_id == notes.c.discussion_id, _EARLIER.c.id < notes.c.id),
}


@lru_cache(maxsize=128)
def _list_query(about: str, filters: frozenset[str], order_by: str, sort: str) -> ListQuery:
    conditions = [_CONDITIONS[name] for name in sorted(filters)]
    matching = select(notes).where(_ABOUT[about], and_(True, *conditions))
    order = notes.c[order_by]
    by = (order.asc(), notes.c.id.asc()) if sort == "asc" else (order.desc(), notes.c.id.desc())
    return list_query(matching, notes.c.id, *by)


@lru_cache(maxsize=64)
def _all_query(about: str, filters: frozenset[str]) -> Any:
    conditions = [_CONDITIONS[name] for name in sorted(filters)]
    return select(notes).where(_ABOUT[about], and_(True, *conditions)).order_by(notes.c.id)


def subjects_with_note_by(db: Connection, kind: str, subject_ids: Sequence[int], user_id: int) -> set[int]:
    """Return the ids of the subjects that a user wrote notes on, with one statement for all."""
    return {row[0] for row in db.rows(_WRITTEN_ON, kind=kind, subjects=list(subject_ids), user=user_id)}


def notes_containing(db: Connection, subject: Subject, text: str) -> list[Note]:
    """List the newest public notes on a subject that contain a text, such as ``@`` or ``#``."""
    pattern = like_pattern(text)
    return db.all(Note, _CONTAINING, kind=subject.kind, subject=subject.id, pattern=pattern, most=MAX_CONTAINING)


def find_note(db: Connection, note_id: int) -> Note:
    """Return a note by its id without a permission check; raise NotFound if there is none."""
    note = db.first(Note, _BY_ID, note=note_id)
    if note is None:
        raise NotFound("Note")
    return note


def find_note_on(
    db: Connection, actor: Actor, subject_access: SubjectAccess, number: str, discussion: str | None = None
) -> Note:
    """Return a note on a subject by its id; raise NotFound if there is none that the caller can see."""
    note = note_on_or_none(db, actor, subject_access, number, discussion)
    if note is None:
        raise NotFound("Note")
    return note


def note_on_or_none(
    db: Connection, actor: Actor, subject_access: SubjectAccess, number: str, discussion: str | None = None
) -> Note | None:
    """Return a note on a subject by its id if the caller can see it, else None.

    Raises Invalid if the id is not a number.
    """
    note_id = number_or_none(number)
    if note_id is None:
        raise Invalid(note_id=["is invalid"])
    about, filters, values = _visibility_filters(db, actor, subject_access)
    filters |= {"by_number"}
    values["note"] = note_id
    if discussion is not None:
        filters |= {"of_discussion"}
        values["discussion"] = discussion
    return db.first(Note, _all_query(about, filters), **values)


def notes_on(db: Connection, actor: Actor, subject_access: SubjectAccess, note_ids: Sequence[int]) -> list[Note]:
    """Return those of some notes on a subject that the caller can see; one statement."""
    about, filters, values = _visibility_filters(db, actor, subject_access)
    return db.all(Note, _all_query(about, filters | {"by_numbers"}), **values, notes=list(note_ids))


def suggestions_of(db: Connection, note_ids: Sequence[int]) -> dict[int, list[NoteSuggestion]]:
    """Return the suggestions of notes by note id, with one statement for all."""
    by_note: defaultdict[int, list[NoteSuggestion]] = defaultdict(list)
    for suggestion in db.all(NoteSuggestion, _SUGGESTIONS_OF, notes=list(note_ids)) if note_ids else ():
        by_note[suggestion.note_id].append(suggestion)
    return by_note


def list_comments(db: Connection, project_id: int, oid: str, page: Page) -> Listing[Note]:
    """Return a page of the comments on a commit in a project, oldest first."""
    return fetch_page(db, Note, _ON_COMMIT, page, project=project_id, oid=oid)


def comments_on_lines(db: Connection, project_id: int, oid: str) -> list[Note]:
    """List the comments on lines of a commit, oldest first, up to the limit of a page."""
    return db.all(Note, _ON_LINES, project=project_id, oid=oid)


def list_notes(
    db: Connection, actor: Actor, subject_access: SubjectAccess, params: ListNotes, page: Page
) -> Listing[Note]:
    """Return a page of the notes on a subject that the caller can see."""
    about, filters, values = _visibility_filters(db, actor, subject_access)
    if params.activity_filter != "all_notes":
        filters |= {params.activity_filter}
    return fetch_page(db, Note, _list_query(about, filters, params.order_by, params.sort), page, **values)


def list_discussions(
    db: Connection, actor: Actor, subject_access: SubjectAccess, page: Page
) -> tuple[Listing[Note], dict[str, list[Note]]]:
    """Return a page of discussions as their first notes, oldest first, and all notes by discussion id."""
    about, filters, values = _visibility_filters(db, actor, subject_access)
    key = ("discussions", about, filters, *values.values(), page)
    result = db.cached(key, lambda: _fetch_discussions(db, about, filters, values, page), _discussions_bytes)
    assert result is not None  # noqa: S101 - The lookup always returns a page, which may be empty.
    return result


def _discussions_bytes(result: tuple[Listing[Note], dict[str, list[Note]]]) -> int:
    return 1_000 + sum(1_000 + 4 * len(note.body) for notes in result[1].values() for note in notes)


def _fetch_discussions(
    db: Connection, about: str, filters: frozenset[str], values: dict[str, Any], page: Page
) -> tuple[Listing[Note], dict[str, list[Note]]]:
    first = fetch_page(db, Note, _list_query(about, filters | {"first"}, "created_at", "asc"), page, **values)
    if not first.items:
        return first, {}
    all_notes = db.all(
        Note,
        _all_query(about, filters | {"of_discussions"}),
        **values,
        discussions=[note.discussion_id for note in first.items],
    )
    return first, _by_discussion(all_notes)


def find_discussion(db: Connection, actor: Actor, subject_access: SubjectAccess, discussion_id: str) -> list[Note]:
    """Return the visible notes of a discussion on a subject; raise NotFound if there are none."""
    about, filters, values = _visibility_filters(db, actor, subject_access)
    discussion = db.all(Note, _all_query(about, filters | {"of_discussion"}), **values, discussion=discussion_id)
    if not discussion:
        raise NotFound("Discussion")
    return discussion


def _by_discussion(all_notes: Sequence[Note]) -> dict[str, list[Note]]:
    notes_by_discussion: defaultdict[str, list[Note]] = defaultdict(list)
    for note in all_notes:
        notes_by_discussion[note.discussion_id].append(note)
    return notes_by_discussion


def _visibility_filters(
    db: Connection, actor: Actor, subject_access: SubjectAccess
) -> tuple[str, frozenset[str], dict[str, Any]]:
    """Return the table of the subject, the conditions for notes the caller can see, and their values."""
    about, values = about_subject(subject_access.subject)
    filters = set() if subject_access.may_see_internal else {"not_internal"}
    # Only subjects stored as rows have cross-references from other projects; administrators see all projects.
    if about == "row" and actor.admin:
        filters.add("seen_by_administrator")
    elif about == "row":
        filters.add("seen_by_external" if actor.external else "seen")
        values |= {"actor": actor.user_id, "today": db.today}
    return about, frozenset(filters), values


def about_subject(subject: Subject) -> tuple[str, dict[str, Any]]:
    """Return the key into ``_ABOUT`` for a subject, with the bound values."""
    if subject.kind == COMMIT:
        return "commit", {"project": subject.project_id, "oid": subject.commit_oid}
    return "row", {"kind": subject.kind, "subject": subject.id}


def commit_subject(project_id: int, oid: str) -> Subject:
    """Return a commit of a project as a subject; forks have separate discussions of the same commit."""
    return Subject(COMMIT, project_id, commit_oid=oid)
