"""Notes, discussions and award emoji."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ingot.collaboration.emoji.queries import awards_by_subject
from ingot.collaboration.emoji.views import AwardView, award_views
from ingot.collaboration.issues.views import IssueView
from ingot.collaboration.notes.views import DiscussionView, NoteView
from ingot.core.db.connection import Connection
from ingot.core.markup.emoji import emoji_by_name
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, parse_global_id, to_global_id
from ingot.graphql.loaders import load_projects, render_html
from ingot.graphql.locators import SubjectPath, discussions_of, issue_path, merge_request_path, note_place
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.projects.queries import paths_of_projects
from ingot.web.explore.note_links import note_page

resolvers = Resolvers()
resolvers.types[NoteView] = "Note"
NOTE_MODELS = ("Note", "DiffNote", "DiscussionNote")
_FILTERS = {"ALL_NOTES": "all_notes", "ONLY_COMMENTS": "only_comments", "ONLY_ACTIVITY": "only_activity"}


def subject_path(subject: Any) -> SubjectPath:
    """Return the path of an issue, merge request or snippet."""
    if isinstance(subject, IssueView):
        path = {"id": subject.project_id, "issue_iid": subject.iid}
        return SubjectPath("/projects/:id/issues/:issue_iid", path)
    if hasattr(subject, "source_branch"):
        path = {"id": subject.project_id, "merge_request_iid": subject.iid}
        return SubjectPath("/projects/:id/merge_requests/:merge_request_iid", path)
    return SubjectPath("/projects/:id/snippets/:snippet_id", {"id": subject.project_id, "snippet_id": subject.id})


@resolvers.single("Query.note")
def find_note(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return a note by its id."""
    return note_by_id(context, number_of(arguments["id"], *NOTE_MODELS))


def note_by_id(context: QueryContext, note_id: int) -> Any:
    """Return a note that the caller may see."""
    place = note_place(context, note_id)
    if "sha" in place.subject.path:
        route = f"GET {place.subject.route}/discussions/:discussion_id/notes/:note_id"
        return context.call(route, **place.subject.path, discussion_id=place.discussion_id, note_id=note_id)
    return context.call(f"GET {place.subject.route}/notes/:note_id", **place.subject.path, note_id=note_id)


@resolvers.single("Query.awardable")
def find_awardable(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return an issue, merge request or note, which can have award emoji."""
    parsed = parse_global_id(arguments["id"], "Issue", "WorkItem", "MergeRequest", *NOTE_MODELS)
    if parsed.model in NOTE_MODELS:
        return note_by_id(context, parsed.number)
    place = (merge_request_path if parsed.model == "MergeRequest" else issue_path)(context, parsed.number)
    return context.call(f"GET {place.route}", **place.path)


@resolvers.single("Issue.notes", "MergeRequest.notes", "Snippet.notes")
def list_notes(context: QueryContext, subject: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the notes on a subject, the oldest first."""
    place = subject_path(subject)
    if place.path["id"] is None:
        return connection_of([], arguments)  # Personal snippets have no notes.
    params = {"sort": "asc", "activity_filter": _FILTERS.get(arguments.get("filter") or "")}
    return listed(context, f"GET {place.route}/notes", arguments, params, **place.path)


@resolvers.single("Issue.discussions", "MergeRequest.discussions", "Snippet.discussions")
def list_discussions(context: QueryContext, subject: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the discussions on a subject."""
    place = subject_path(subject)
    if place.path["id"] is None:
        return connection_of([], arguments)  # Personal snippets have no discussions.
    return listed(context, f"GET {place.route}/discussions", arguments, **place.path)


@resolvers.value("Note.id")
def note_id(_: QueryContext, note: NoteView) -> str:
    """Return the global id."""
    return to_global_id(note.type or "Note", note.id)


@resolvers.value("Note.lastEditedAt")
def last_edit(_: QueryContext, note: NoteView) -> str | None:
    """Return when the text was last edited; null if it never was."""
    return note.updated_at if note.updated_at != note.created_at and not note.system else None


@resolvers.value("Note.resolved")
def is_resolved(_: QueryContext, note: NoteView) -> bool:
    """Return whether the note was resolved."""
    return note.resolved is True


@resolvers.batch("Note.bodyHtml")
def body_html(context: QueryContext, notes: Sequence[NoteView], _: Arguments) -> list[str | None]:
    """Return the texts as HTML."""
    return render_html(context, notes, lambda note: note.body, lambda note: note.project_id)


@resolvers.batch("Note.url")
def note_url(context: QueryContext, notes: Sequence[NoteView], _: Arguments) -> list[str | None]:
    """Return the addresses of notes on the pages of their subjects."""
    numbers = sorted({note.project_id for note in notes if note.project_id is not None})
    paths = context.read(lambda db: paths_of_projects(db, numbers))
    return [
        f"{context.origin.base}/{paths[note.project_id]}/{note_page(note)}#note_{note.id}"
        if note.project_id in paths
        else None
        for note in notes
    ]


@resolvers.batch("Note.project")
def find_projects(context: QueryContext, notes: Sequence[NoteView], _: Arguments) -> list[Any]:
    """Return the projects of notes."""
    found = load_projects(context, {note.project_id for note in notes if note.project_id is not None})
    return [found.get(note.project_id or 0) for note in notes]


@resolvers.batch("Note.discussion")
def find_discussions(context: QueryContext, notes: Sequence[NoteView], _: Arguments) -> list[Any]:
    """Return the discussions of notes; each discussion is requested once."""
    by_note = context.read(lambda db: discussions_of(db, [note.id for note in notes]))
    found: dict[str, Any] = {}
    for note in notes:
        discussion_id = by_note[note.id]
        if discussion_id not in found:
            place = note_place(context, note.id).subject
            route = f"GET {place.route}/discussions/:discussion_id"
            found[discussion_id] = context.call(route, **place.path, discussion_id=discussion_id)
    return [found[by_note[note.id]] for note in notes]


@resolvers.value("Discussion.id", "Discussion.replyId")
def discussion_id(_: QueryContext, discussion: DiscussionView) -> str:
    """Return the global id."""
    return to_global_id("Discussion", discussion.id)


@resolvers.value("Discussion.createdAt")
def discussion_time(_: QueryContext, discussion: DiscussionView) -> str:
    """Return the time of the first note."""
    return discussion.notes[0].created_at


@resolvers.value("Discussion.resolvable")
def is_resolvable(_: QueryContext, discussion: DiscussionView) -> bool:
    """Return whether the discussion can be resolved."""
    return any(note.resolvable for note in discussion.notes)


@resolvers.value("Discussion.resolved")
def is_discussion_resolved(_: QueryContext, discussion: DiscussionView) -> bool:
    """Return whether all resolvable notes were resolved."""
    resolvable = [note for note in discussion.notes if note.resolvable]
    return bool(resolvable) and all(note.resolved is True for note in resolvable)


def _last_resolved(discussion: DiscussionView) -> NoteView | None:
    resolved = [note for note in discussion.notes if note.resolved is True]
    return resolved[-1] if resolved and len(resolved) == sum(note.resolvable for note in discussion.notes) else None


@resolvers.value("Discussion.resolvedAt")
def discussion_resolved_at(_: QueryContext, discussion: DiscussionView) -> Any:
    """Return when the discussion was resolved."""
    note = _last_resolved(discussion)
    return note.resolved_at if note else None


@resolvers.value("Discussion.resolvedBy")
def discussion_resolved_by(_: QueryContext, discussion: DiscussionView) -> Any:
    """Return who resolved the discussion."""
    note = _last_resolved(discussion)
    return note.resolved_by if note else None


@resolvers.batch("Discussion.notes")
def discussion_notes(_: QueryContext, discussions: Sequence[DiscussionView], arguments: Arguments) -> list[Any]:
    """Return the notes of discussions."""
    return [connection_of(discussion.notes, arguments) for discussion in discussions]


@resolvers.single("Discussion.noteable")
def find_noteable(context: QueryContext, discussion: DiscussionView, _: Arguments) -> Any:
    """Return the subject of a discussion, if it is an issue or merge request."""
    place = note_place(context, discussion.notes[0].id).subject
    kinds = ("issue_iid", "merge_request_iid")
    return context.call(f"GET {place.route}", **place.path) if any(kind in place.path for kind in kinds) else None


@resolvers.value("Discussion.userPermissions", "Note.userPermissions")
def find_permissions(_: QueryContext, subject: Any) -> Any:
    """Return a note as the parent of the permissions; those of a discussion follow from its first note."""
    return subject.notes[0] if isinstance(subject, DiscussionView) else subject


@resolvers.value("NotePermissions.readNote")
def may_read_note(_: QueryContext, __: Any) -> bool:
    """Return that the caller sees the note."""
    return True


def _permission(field: str, method: str, below: str, *, on_note: bool = False) -> None:
    @resolvers.batch(field)
    def may_call(context: QueryContext, notes: Sequence[NoteView], _: Arguments) -> list[bool]:
        """Return whether an endpoint of the subject or note allows the call; notes of one subject share the answer."""
        known: dict[Any, bool] = {}
        return [_is_allowed(context, note, method, below, on_note, known) for note in notes]


def _is_allowed(
    context: QueryContext, note: NoteView, method: str, below: str, on_note: bool, known: dict[Any, bool]
) -> bool:
    place = place_of_note(note)
    if place is None or not context.actor.known:
        return False
    route = f"{method} {place.route}{below}"
    path = {**place.path, "note_id": note.id} if on_note else place.path
    key = (route, *path.values())
    if key not in known:
        known[key] = context.allows(route, **path)
    return known[key]


def place_of_note(note: NoteView) -> SubjectPath | None:
    """Return the path of a note's subject; None if it has no notes in the REST API."""
    if note.noteable_type == "Issue":
        return SubjectPath("/projects/:id/issues/:issue_iid", {"id": note.project_id, "issue_iid": note.noteable_iid})
    if note.noteable_type == "MergeRequest":
        path = {"id": note.project_id, "merge_request_iid": note.noteable_iid}
        return SubjectPath("/projects/:id/merge_requests/:merge_request_iid", path)
    if note.noteable_type == "Snippet":
        return SubjectPath(
            "/projects/:id/snippets/:snippet_id", {"id": note.project_id, "snippet_id": note.noteable_id}
        )
    return None


_permission("NotePermissions.createNote", "POST", "/notes")
_permission("NotePermissions.awardEmoji", "POST", "/notes/:note_id/award_emoji", on_note=True)
_permission("NotePermissions.adminNote", "PUT", "/notes/:note_id", on_note=True)


@resolvers.batch("NotePermissions.resolveNote", "DiscussionPermissions.resolveNote")
def may_resolve(context: QueryContext, notes: Sequence[NoteView], _: Arguments) -> list[bool]:
    """Return whether the caller may resolve discussions of a merge request; the first of them decides for all."""
    known: dict[Any, bool] = {}
    by_note = context.read(lambda db: discussions_of(db, [note.id for note in notes if note.resolvable]))
    allowed = []
    for note in notes:
        place = place_of_note(note) if note.resolvable and context.actor.known else None
        if place is None or "merge_request_iid" not in place.path:
            allowed.append(False)
            continue
        key = tuple(place.path.values())
        if key not in known:
            route = f"PUT {place.route}/discussions/:discussion_id"
            known[key] = context.allows(route, **place.path, discussion_id=by_note[note.id])
        allowed.append(known[key])
    return allowed


@resolvers.value("DiffPosition.filePath")
def position_path(_: QueryContext, position: dict[str, Any]) -> str | None:
    """Return the path of the file."""
    return position.get("new_path") or position.get("old_path")


@resolvers.value("DiffPosition.diffRefs")
def position_refs(_: QueryContext, position: dict[str, Any]) -> dict[str, Any]:
    """Return the position as the parent of its commits."""
    return position


@resolvers.batch("Issue.awardEmoji")
def list_issue_awards(context: QueryContext, issues: Sequence[IssueView], arguments: Arguments) -> list[ConnectionPage]:
    """Return the award emoji of issues."""
    return _awards(context, "issue", [issue.id for issue in issues], arguments)


@resolvers.batch("MergeRequest.awardEmoji")
def list_merge_request_awards(
    context: QueryContext, merge_requests: Sequence[Any], arguments: Arguments
) -> list[ConnectionPage]:
    """Return the award emoji of merge requests."""
    return _awards(context, "merge_request", [each.id for each in merge_requests], arguments)


@resolvers.batch("Note.awardEmoji")
def list_note_awards(context: QueryContext, notes: Sequence[NoteView], arguments: Arguments) -> list[ConnectionPage]:
    """Return the award emoji of notes."""
    return _awards(context, "note", [note.id for note in notes], arguments)


def _awards(context: QueryContext, kind: str, ids: Sequence[int], arguments: Arguments) -> list[ConnectionPage]:
    """Return the award emoji of subjects that the caller can see, with one statement for all."""

    def read(db: Connection) -> dict[int, list[AwardView]]:
        found: defaultdict[int, list[AwardView]] = defaultdict(list)
        awards = [award for given in awards_by_subject(db, kind, ids).values() for award in given]
        for view in award_views(db, awards, context.origin.base):
            found[view.awardable_id].append(view)
        return found

    by_id = context.read(read)
    return [connection_of(by_id.get(each, []), arguments) for each in ids]


@resolvers.value("AwardEmoji.emoji", "AwardEmoji.unicode")
def emoji_text(_: QueryContext, award: Any) -> str:
    """Return the character of an emoji."""
    return emoji_by_name().get(award.name, "")


@resolvers.value("AwardEmoji.description")
def emoji_description(_: QueryContext, award: Any) -> str:
    """Return the name as a description."""
    return str(award.name).replace("_", " ")


@resolvers.value("AwardEmoji.unicodeVersion")
def emoji_version(_: QueryContext, __: Any) -> str:
    """Return the version of Unicode; it is not stored."""
    return ""
