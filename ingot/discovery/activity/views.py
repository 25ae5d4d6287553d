"""How what people did is shown."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import select

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.tables import Milestone
from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.notes.views import TYPES, NoteView, note_views
from ingot.collaboration.participants.queries import list_subject_kinds
from ingot.collaboration.snippets.queries import snippets_by_ids
from ingot.collaboration.snippets.service import snippet_subject
from ingot.collaboration.subjects import Subject
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp
from ingot.discovery.activity.tables import MILESTONE, SNIPPET, ActivityEvent
from ingot.git.history.commits import NO_OID
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
    """What a push changed, and what came by it."""

    commit_count: int
    action: Literal["created", "removed", "pushed"]
    ref_type: Literal["branch", "tag"]
    commit_from: str | None
    commit_to: str | None
    ref: str
    commit_title: str | None
    ref_count: int | None = None


class PushedCommit(msgspec.Struct, frozen=True):
    """A commit that came by a push, as it is stored."""

    id: str
    message: str
    timestamp: str
    author_name: str | None
    author_email: str | None


class StoredPush(PushView):
    """A push as it is stored."""

    commits: tuple[PushedCommit, ...] = ()


class CommitAuthorView(View):
    """Who wrote a commit."""

    name: str
    email: str


class PushedCommitView(View):
    """A commit that came by a push."""

    id: str
    message: str
    timestamp: str
    url: str
    author: CommitAuthorView


class PushedRepositoryView(View):
    """Where was pushed to."""

    name: str
    url: str
    description: str | None
    homepage: str


class PushDataView(View):
    """What a push changed in the words of the contract, which later clients know as ``push_data``."""

    before: str
    after: str
    ref: str
    user_id: int
    user_name: str
    repository: PushedRepositoryView
    commits: list[PushedCommitView]
    total_commits_count: int


class EventView(View):
    """Something that somebody did."""

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


def event_views(db: Connection, found: Sequence[ActivityEvent], urls: InstanceUrls) -> list[EventView]:
    """A page of events; one statement for each relation, and one for the subjects of each kind."""
    if not found:
        return []
    base = urls.base
    authors = user_briefs_by_ids(db, [event.author_id for event in found], base)
    pushed_to = _load_projects(db, found)
    subjects = _load_subjects(db, found)
    said = _load_notes(db, found, subjects, base)
    planned = _load_milestones(db, found)
    views = []
    for event in found:
        about: Subject | Milestone | None = subjects.get((event.subject_kind, event.subject_id))
        if event.target_kind == MILESTONE:
            about = planned.get(event.target_id or 0)
        note = said.get(event.target_id or 0) if event.target_kind == "note" else None
        # One may have gone in between, where a server's statements do not all see the same moment.
        if event.author_id in authors and (note is not None or event.target_kind != "note"):
            view = _event_view(event, about, note, authors[event.author_id])
            if event.push is not None and event.project_id in pushed_to:
                _add_push_data(view, event.push, pushed_to[event.project_id], urls)
            views.append(view)
    return views


SubjectsByKey = dict[tuple[str | None, int | None], Subject]


def _load_subjects(db: Connection, found: Sequence[ActivityEvent]) -> SubjectsByKey:
    numbers: defaultdict[str | None, set[int]] = defaultdict(set)
    for event in found:
        if event.subject_id is not None:
            numbers[event.subject_kind].add(event.subject_id)
    known: SubjectsByKey = {
        (kind.kind, number): subject
        for kind in list_subject_kinds(db)
        if kind.kind in numbers
        for number, subject in kind.subjects(db, sorted(numbers[kind.kind])).items()
    }
    if SNIPPET in numbers:
        found_snippets = snippets_by_ids(db, sorted(numbers[SNIPPET]))
        known |= {(SNIPPET, number): snippet_subject(snippet) for number, snippet in found_snippets.items()}
    return known


def _load_milestones(db: Connection, found: Sequence[ActivityEvent]) -> dict[int, Milestone]:
    wanted = [event.target_id for event in found if event.target_kind == MILESTONE and event.target_id is not None]
    return milestones_by_ids(db, wanted) if wanted else {}


def _load_notes(
    db: Connection, found: Sequence[ActivityEvent], subjects: SubjectsByKey, base: str
) -> dict[int, NoteView]:
    wanted = [event.target_id for event in found if event.target_kind == "note"]
    if not wanted:
        return {}
    by_kind: defaultdict[str, list[Note]] = defaultdict(list)
    for note in db.all(Note, _NOTES_BY_ID, notes=wanted):
        by_kind[note.subject_kind].append(note)
    views = {}
    for kind, written in by_kind.items():
        stand_in = Subject(kind, None)  # type: ignore[arg-type] # Rows hold no other kinds.
        for note, view in zip(written, note_views(db, stand_in, written, base), strict=True):
            about = subjects.get((kind, note.subject_id))
            view.noteable_id, view.noteable_iid = note.subject_id, about.iid if about else None
            views[note.id] = view
    return views


def _load_projects(db: Connection, found: Sequence[ActivityEvent]) -> dict[int, Project]:
    wanted = {event.project_id for event in found if event.push is not None}
    return projects_by_ids(db, sorted(wanted)) if wanted else {}


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
                # Of a commit that was made for somebody here, nothing more was said than who that was.
                CommitAuthorView(commit.author_name or author.name, commit.author_email or ""),
            )
            for commit in push.commits
        ],
        push.commit_count,
    )


def _event_view(
    event: ActivityEvent, about: Subject | Milestone | None, note: NoteView | None, author: UserBrief
) -> EventView:
    return EventView(
        id=event.id,
        title=None,
        project_id=event.project_id,
        action_name=_action_name(event),
        target_id=event.target_id,
        target_iid=event.target_id if note is not None or about is None else about.iid,
        target_type=_TARGET_TYPES.get(event.target_kind or ""),
        author_id=event.author_id,
        data=None,
        target_title=about.title if about else None,
        created_at=event.created_at,
        author=author,
        author_username=author.username,
        note=note if note is not None else UNSET,
    )


def _action_name(event: ActivityEvent) -> str:
    """The contract's words, which tell a reopened one from an opened one no more than it does."""
    if event.action == "created" and event.target_kind is None:
        return "created"
    return _ACTION_NAMES.get(event.action, "opened")
