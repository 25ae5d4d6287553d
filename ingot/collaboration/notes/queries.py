"""How notes are found and listed."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, bindparam, exists, not_, or_, select

from ingot.collaboration.notes.params import ListNotes
from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import day_of
from ingot.errors import Invalid, NotFound
from ingot.projects.projects.policy import readable_projects, visible_projects
from ingot.projects.projects.tables import projects

COMMIT: Literal["commit"] = "commit"

_BY_ID = select(notes).where(notes.c.id == bindparam("note"))
MAX_CONTAINING = 200
"""Of so many notes it is looked at anew whom and what they name."""
_CONTAINING = (
    select(notes)
    .where(
        notes.c.subject_kind == bindparam("kind"),
        notes.c.subject_id == bindparam("subject"),
        notes.c.system.is_(False),
        notes.c.internal.is_(False),
        contains(notes.c.body, "sign"),
    )
    .order_by(notes.c.id.desc())
    .limit(bindparam("most"))
)
_WRITTEN_ON = (
    select(notes.c.subject_id)
    .where(
        notes.c.subject_kind == bindparam("kind"),
        in_list(notes.c.subject_id, "subjects"),
        notes.c.author_id == bindparam("user"),
        notes.c.system.is_(False),
    )
    .distinct()
)
_WRITTEN = (
    select(notes.c.id)
    .where(
        notes.c.subject_kind == bindparam("kind"),
        notes.c.subject_id == bindparam("subject"),
        notes.c.author_id == bindparam("user"),
        notes.c.system.is_(False),
    )
    .limit(1)
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
_earlier = notes.alias("earlier")
_ABOUT: dict[str, ColumnElement[bool]] = {
    "commit": (notes.c.project_id == bindparam("project"))
    & (notes.c.commit_oid == bindparam("oid"))
    & (notes.c.subject_kind == COMMIT),
    "row": (notes.c.subject_kind == bindparam("kind")) & (notes.c.subject_id == bindparam("subject")),
}


def _mention_source_visible(*, external: bool) -> ColumnElement[bool]:
    """Mentions from elsewhere are only known to those who see where they come from; commits are code."""
    there = projects.c.id == notes.c.source_project_id
    in_sight = exists().where(there, projects.c.issues_enabled.is_(True), visible_projects(external=external))
    of_issue = notes.c.source_kind == "issue"
    return or_(
        notes.c.source_project_id.is_(None),
        and_(of_issue, or_(notes.c.source_project_id == notes.c.project_id, in_sight)),
        and_(not_(of_issue), exists().where(there, readable_projects(external=external))),
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
    "of_discussion": notes.c.discussion_id == bindparam("discussion"),
    "of_discussions": in_list(notes.c.discussion_id, "discussions"),
    "first": ~exists().where(_earlier.c.discussion_id == notes.c.discussion_id, _earlier.c.id < notes.c.id),
}


@lru_cache(maxsize=128)
def _lists_of(about: str, filters: frozenset[str], order_by: str, sort: str) -> ListQuery:
    conditions = [_CONDITIONS[name] for name in sorted(filters)]
    matching = select(notes).where(_ABOUT[about], and_(True, *conditions))
    order = notes.c[order_by]
    by = (order.asc(), notes.c.id.asc()) if sort == "asc" else (order.desc(), notes.c.id.desc())
    return list_query(matching, notes.c.id, *by)


@lru_cache(maxsize=64)
def _all_of(about: str, filters: frozenset[str]) -> Any:
    conditions = [_CONDITIONS[name] for name in sorted(filters)]
    return select(notes).where(_ABOUT[about], and_(True, *conditions)).order_by(notes.c.id)


def has_note_by(db: Connection, kind: str, subject_id: int, user_id: int) -> bool:
    """Whether somebody wrote a note about something."""
    return db.value(_WRITTEN, kind=kind, subject=subject_id, user=user_id) is not None


def subjects_with_note_by(db: Connection, kind: str, subject_ids: Sequence[int], user_id: int) -> set[int]:
    """About which of these somebody wrote a note; one statement for all."""
    return {row[0] for row in db.rows(_WRITTEN_ON, kind=kind, subjects=list(subject_ids), user=user_id)}


def notes_containing(db: Connection, subject: Subject, text: str) -> list[Note]:
    """The newest notes for all to read about a subject that hold a sign, by which they may name something."""
    pattern = like_pattern(text)
    return db.all(Note, _CONTAINING, kind=subject.kind, subject=subject.id, sign=pattern, most=MAX_CONTAINING)


def find_note(db: Connection, note_id: int) -> Note:
    """The note with this number, whoever asks."""
    note = db.first(Note, _BY_ID, note=note_id)
    if note is None:
        raise NotFound("Note")
    return note


def find_note_on(
    db: Connection, actor: Actor, subject_access: SubjectAccess, number: str, discussion: str | None = None
) -> Note:
    """The note with this number about a subject, if the caller may know of it."""
    note = note_on_or_none(db, actor, subject_access, number, discussion)
    if note is None:
        raise NotFound("Note")
    return note


def note_on_or_none(
    db: Connection, actor: Actor, subject_access: SubjectAccess, number: str, discussion: str | None = None
) -> Note | None:
    """The same for who can do without it."""
    note_id = number_or_none(number)
    if note_id is None:
        raise Invalid(note_id=["is invalid"])
    about, filters, values = _visibility_filters(db, actor, subject_access)
    filters |= {"by_number"}
    values["note"] = note_id
    if discussion is not None:
        filters |= {"of_discussion"}
        values["discussion"] = discussion
    return db.first(Note, _all_of(about, filters), **values)


def list_comments(db: Connection, project_id: int, oid: str, page: Page) -> Listing[Note]:
    """A page of what was written about a commit in a project, the oldest first."""
    return fetch_page(db, Note, _ON_COMMIT, page, project=project_id, oid=oid)


def comments_on_lines(db: Connection, project_id: int, oid: str) -> list[Note]:
    """What was written about lines that a commit changes, the oldest first, as far as a page can show it."""
    return db.all(Note, _ON_LINES, project=project_id, oid=oid)


def list_notes(
    db: Connection, actor: Actor, subject_access: SubjectAccess, params: ListNotes, page: Page
) -> Listing[Note]:
    """A page of the notes about a subject that the caller may see."""
    about, filters, values = _visibility_filters(db, actor, subject_access)
    if params.activity_filter != "all_notes":
        filters |= {params.activity_filter}
    return fetch_page(db, Note, _lists_of(about, filters, params.order_by, params.sort), page, **values)


def list_discussions(
    db: Connection, actor: Actor, subject_access: SubjectAccess, page: Page
) -> tuple[Listing[Note], dict[str, list[Note]]]:
    """A page of discussions by the note that begins each, the oldest first, and all notes of each."""
    about, filters, values = _visibility_filters(db, actor, subject_access)
    key = ("discussions", about, filters, *values.values(), page)
    found = db.cached(key, lambda: _look_up(db, about, filters, values, page), _discussions_bytes)
    assert found is not None  # noqa: S101 - There is a page, were it empty.
    return found


def _discussions_bytes(found: tuple[Listing[Note], dict[str, list[Note]]]) -> int:
    return 1_000 + sum(1_000 + 4 * len(note.body) for notes in found[1].values() for note in notes)


def _look_up(
    db: Connection, about: str, filters: frozenset[str], values: dict[str, Any], page: Page
) -> tuple[Listing[Note], dict[str, list[Note]]]:
    first = fetch_page(db, Note, _lists_of(about, filters | {"first"}, "created_at", "asc"), page, **values)
    if not first.items:
        return first, {}
    found = db.all(
        Note,
        _all_of(about, filters | {"of_discussions"}),
        **values,
        discussions=[note.discussion_id for note in first.items],
    )
    return first, _by_discussion(found)


def find_discussion(db: Connection, actor: Actor, subject_access: SubjectAccess, discussion_id: str) -> list[Note]:
    """The notes of a discussion about a subject, as far as the caller may see them."""
    about, filters, values = _visibility_filters(db, actor, subject_access)
    found = db.all(Note, _all_of(about, filters | {"of_discussion"}), **values, discussion=discussion_id)
    if not found:
        raise NotFound("Discussion")
    return found


def _by_discussion(found: Sequence[Note]) -> dict[str, list[Note]]:
    together: defaultdict[str, list[Note]] = defaultdict(list)
    for note in found:
        together[note.discussion_id].append(note)
    return together


def _visibility_filters(
    db: Connection, actor: Actor, subject_access: SubjectAccess
) -> tuple[str, frozenset[str], dict[str, Any]]:
    """What of the notes about a subject a caller sees: as conditions, and what they are bound to."""
    about, values = about_subject(subject_access.subject)
    filters = set() if subject_access.may_see_internal else {"not_internal"}
    # Only rows are mentioned in other projects' texts, and administrators see all projects that are there.
    if about == "row" and actor.admin:
        filters.add("seen_by_administrator")
    elif about == "row":
        filters.add("seen_by_external" if actor.external else "seen")
        values |= {"actor": actor.user_id, "today": day_of(db.now)}
    return about, frozenset(filters), values


def about_subject(subject: Subject) -> tuple[str, dict[str, Any]]:
    """How notes about a subject are found: by its row, or by the commit in a project."""
    if subject.kind == COMMIT:
        return "commit", {"project": subject.project_id, "oid": subject.commit_oid}
    return "row", {"kind": subject.kind, "subject": subject.id}


def commit_subject(project_id: int, oid: str) -> Subject:
    """A commit as something that is discussed; in each project apart, whatever it was copied from."""
    return Subject(COMMIT, project_id, commit_oid=oid)
