"""Response structs of activity events."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import select

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.activity.params import ListActivityEvents
from ingot.activity.queries import MAX_COUNTED, EventOwner, count_events_by_day, list_events
from ingot.activity.tables import MILESTONE, SNIPPET, ActivityEvent
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.tables import Milestone
from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.notes.views import TYPES, NoteView, note_views
from ingot.collaboration.participants.queries import list_subject_kinds
from ingot.collaboration.snippets.queries import snippets_by_ids
from ingot.collaboration.snippets.service import snippet_subject
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Page
from ingot.core.db.times import Date, Timestamp
from ingot.git.history.commits import NO_OID
from ingot.projects.projects.closed_items import open_items
from ingot.projects.projects.queries import projects_by_ids
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls

_NOTES_BY_ID = select(notes).where(in_list(notes.c.id, "notes"))
_ACTION_NAMES = {
    "closed": "closed",
    "merged": "accepted",
    "joined": "joined",
    "left": "left",
    "expired": "removed due to membership expiration from",
    "commented": "commented on",
    "destroyed": "destroyed",
}
_TARGET_TYPES = {**TYPES, MILESTONE: "Milestone"}
_PUSH_ACTION_NAMES = {"created": "pushed new", "removed": "deleted", "pushed": "pushed to"}


class PushView(View):
    """Ref and commits of a push."""

    commit_count: int
    action: Literal["created", "removed", "pushed"]
    ref_type: Literal["branch", "tag"]
    commit_from: str | None
    commit_to: str | None
    ref: str
    commit_title: str | None
    ref_count: int | None = None
    deploy_key_id: int | UnsetType = UNSET
    """The deploy key that pushed; the author is then the user who added it to the project."""


class PushedCommit(msgspec.Struct, frozen=True):
    """A pushed commit as stored."""

    id: str
    message: str
    timestamp: str
    author_name: str | None
    author_email: str | None


class StoredPush(PushView):
    """A push as stored."""

    commits: tuple[PushedCommit, ...] = ()


class CommitAuthorView(View):
    """Author of a commit."""

    name: str
    email: str


class PushedCommitView(View):
    """A pushed commit."""

    id: str
    message: str
    timestamp: str
    url: str
    author: CommitAuthorView


class PushedRepositoryView(View):
    """Repository of a push."""

    name: str
    url: str
    description: str | None
    homepage: str


class PushDataView(View):
    """A push in the older format of ``data``; newer clients read ``push_data``."""

    before: str
    after: str
    ref: str
    user_id: int
    user_name: str
    repository: PushedRepositoryView
    commits: list[PushedCommitView]
    total_commits_count: int


class EventView(View):
    """An activity event."""

    id: int
    title: str | None
    project_id: int
    action_name: str
    target_id: int | None
    target_iid: int | None
    target_type: str | None
    author_id: int
    data: PushDataView | None
    target_title: str | None
    created_at: Timestamp
    author: UserBrief
    author_username: str
    note: NoteView | UnsetType = UNSET
    push_data: PushView | UnsetType = UNSET


def event_views(db: Connection, rows: Sequence[ActivityEvent], urls: InstanceUrls) -> list[EventView]:
    """Return the views of a page of events, with one statement per relation and per kind of subject."""
    if not rows:
        return []
    base = urls.base
    authors = user_briefs_by_ids(db, [event.author_id for event in rows], base)
    projects = _load_projects(db, rows)
    subjects = _load_subjects(db, rows)
    note_views_by_id = _load_notes(db, rows, subjects, base)
    milestones = _load_milestones(db, rows)
    views = []
    for event in rows:
        subject: Subject | Milestone | None = subjects.get((event.subject_kind, event.subject_id))
        if event.target_kind == MILESTONE:
            subject = milestones.get(event.target_id or 0)
        note = note_views_by_id.get(event.target_id or 0) if event.target_kind == "note" else None
        # The object may have been deleted between two statements, which do not share a snapshot on every database.
        if event.author_id in authors and (note is not None or event.target_kind != "note"):
            view = _event_view(event, subject, note, authors[event.author_id])
            if event.push is not None and event.project_id in projects:
                _add_push_data(view, event.push, projects[event.project_id], urls)
            views.append(view)
    return views


SubjectsByKey = dict[tuple[str | None, int | None], Subject]


def _load_subjects(db: Connection, rows: Sequence[ActivityEvent]) -> SubjectsByKey:
    ids: defaultdict[str | None, set[int]] = defaultdict(set)
    for event in rows:
        if event.subject_id is not None:
            ids[event.subject_kind].add(event.subject_id)
    subjects: SubjectsByKey = {
        (kind.kind, subject_id): subject
        for kind in list_subject_kinds(db)
        if kind.kind in ids
        for subject_id, subject in kind.subjects(db, sorted(ids[kind.kind])).items()
    }
    if SNIPPET in ids:
        found_snippets = snippets_by_ids(db, sorted(ids[SNIPPET]))
        subjects |= {(SNIPPET, subject_id): snippet_subject(snippet) for subject_id, snippet in found_snippets.items()}
    return subjects


def _load_milestones(db: Connection, rows: Sequence[ActivityEvent]) -> dict[int, Milestone]:
    ids = [event.target_id for event in rows if event.target_kind == MILESTONE and event.target_id is not None]
    return milestones_by_ids(db, ids) if ids else {}


def _load_notes(
    db: Connection, rows: Sequence[ActivityEvent], subjects: SubjectsByKey, base: str
) -> dict[int, NoteView]:
    ids = [event.target_id for event in rows if event.target_kind == "note"]
    if not ids:
        return {}
    by_kind: defaultdict[str, list[Note]] = defaultdict(list)
    for note in db.all(Note, _NOTES_BY_ID, notes=ids):
        by_kind[note.subject_kind].append(note)
    views = {}
    for kind, kind_notes in by_kind.items():
        any_subject = Subject(kind, None)  # type: ignore[arg-type] # Rows hold no other kinds.
        for note, view in zip(kind_notes, note_views(db, any_subject, kind_notes, base), strict=True):
            subject = subjects.get((kind, note.subject_id))
            view.noteable_id, view.noteable_iid = note.subject_id, subject.iid if subject else None
            views[note.id] = view
    return views


def _load_projects(db: Connection, rows: Sequence[ActivityEvent]) -> dict[int, Project]:
    ids = {event.project_id for event in rows if event.push is not None}
    return projects_by_ids(db, sorted(ids)) if ids else {}


def _add_push_data(view: EventView, stored: str, project: Project, urls: InstanceUrls) -> None:
    push = msgspec.json.decode(stored, type=StoredPush)
    author, homepage = view.author, f"{urls.base}/{project.full_path}"
    view.action_name = _PUSH_ACTION_NAMES[push.action]
    view.push_data = PushView(*(getattr(push, name) for name in PushView.__struct_fields__))
    view.data = PushDataView(
        push.commit_from or NO_OID,
        push.commit_to or NO_OID,
        f"refs/{'heads' if push.ref_type == 'branch' else 'tags'}/{push.ref}",
        author.id,
        author.name,
        PushedRepositoryView(project.name, f"{urls.ssh}{project.full_path}.git", project.description, homepage),
        [
            PushedCommitView(
                commit.id,
                commit.message,
                commit.timestamp or view.created_at,
                f"{homepage}/commit/{commit.id}",
                # A commit created by the server on behalf of a user is stored without author.
                CommitAuthorView(commit.author_name or author.name, commit.author_email or ""),
            )
            for commit in push.commits
        ],
        push.commit_count,
    )


def _event_view(
    event: ActivityEvent, subject: Subject | Milestone | None, note: NoteView | None, author: UserBrief
) -> EventView:
    return EventView(
        id=event.id,
        title=None,
        project_id=event.project_id,
        action_name=_action_name(event),
        target_id=event.target_id,
        target_iid=event.target_id if note is not None or subject is None else subject.iid,
        target_type=_TARGET_TYPES.get(event.target_kind or ""),
        author_id=event.author_id,
        data=None,
        target_title=subject.title if subject else None,
        created_at=event.created_at,
        author=author,
        author_username=author.username,
        note=note if note is not None else UNSET,
    )


def _action_name(event: ActivityEvent) -> str:
    """Return the action in the words of the specification, which uses "opened" for reopened subjects too."""
    if event.action == "created" and event.target_kind is None:
        return "created"
    return _ACTION_NAMES.get(event.action, "opened")


class ActivityDays(NamedTuple):
    """Number of events per day."""

    counts: dict[str, int]
    complete: bool
    """Whether everything was counted; else only the newest."""


def newest_events(
    db: Connection, actor: Actor, whose: EventOwner, number: int, size: int, at: InstanceUrls
) -> list[EventView]:
    """Return the newest events of a user or of a group that the caller may see, without counting all."""
    found = list_events(db, actor, ListActivityEvents(), Page(size=size, keyset=True), whose, **{whose: number})
    return event_views(db, open_items(db, actor, found.items), at)


def activity_days(db: Connection, actor: Actor, whose: EventOwner, number: int, after: Date) -> ActivityDays:
    """Count the events of a user or of a group that the caller may see, by day."""
    counts = count_events_by_day(db, actor, whose, number, after)
    return ActivityDays(counts, sum(counts.values()) < MAX_COUNTED)
