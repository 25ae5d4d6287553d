"""Mutations of notes, discussions and award emoji."""

from typing import Any

from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS
from ingot.collaboration.merge_requests.quick_actions.definitions import MERGE_REQUEST_COMMANDS
from ingot.collaboration.notes.views import CommandsView, DiscussionView, NoteView
from ingot.core.api.routes import AlternateResponse
from ingot.core.errors import Invalid, NotFound
from ingot.core.markup.emoji import canonical_name
from ingot.core.markup.quick_actions import extract_commands
from ingot.graphql.context import QueryContext
from ingot.graphql.families.notes import NOTE_MODELS, note_by_id
from ingot.graphql.families.snippets import SNIPPET_MODELS
from ingot.graphql.global_ids import parse_global_id
from ingot.graphql.locators import (
    SubjectPath,
    discussion_place,
    issue_path,
    merge_request_path,
    note_place,
    snippet_path,
)
from ingot.graphql.mutations.inputs import Input, renamed
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()
_NO_COMMAND_APPLIED = "Failed to apply commands."
DISCUSSION_MODELS = ("Discussion", "DiffDiscussion", "IndividualNoteDiscussion")


def subject_of(context: QueryContext, global_id: str) -> SubjectPath:
    """Return the path of an issue, merge request or snippet."""
    parsed = parse_global_id(global_id, "Issue", "WorkItem", "MergeRequest", *SNIPPET_MODELS)
    if parsed.model == "MergeRequest":
        return merge_request_path(context, parsed.number)
    return (issue_path if parsed.model in ("Issue", "WorkItem") else snippet_path)(context, parsed.number)


def _commentable(context: QueryContext, global_id: str) -> SubjectPath:
    place = subject_of(context, global_id)
    if place.route == "/snippets/:id":
        raise NotFound("Noteable")  # Personal snippets have no notes.
    return place


def _note(response: Any) -> dict[str, Any]:
    """Return the payload; a text with quick actions only creates no note."""
    return {"note": response if isinstance(response, NoteView) else None}


def _created_note(place: SubjectPath, body: str, response: Any) -> dict[str, Any]:
    """Return the payload of a new note, with the result of the quick actions in its text."""
    created = response.notes[0] if isinstance(response, DiscussionView) else response
    result = created.content if isinstance(created, AlternateResponse) else created
    return {**_note(created), "quick_actions_status": _quick_actions_status(place, body, result)}


def _quick_actions_status(place: SubjectPath, body: str, result: NoteView | CommandsView) -> dict[str, Any] | None:
    """Return the executed quick actions; null for a text without any."""
    if not isinstance(result.summary, list):
        return None
    registry = ISSUE_COMMANDS if "issue_iid" in place.path else MERGE_REQUEST_COMMANDS
    return {
        "command_names": [command.name for command in extract_commands(body, registry.names).commands],
        "commands_only": isinstance(result, CommandsView),
        "messages": result.summary or None,
        "error_messages": None if result.summary else [_NO_COMMAND_APPLIED],
    }


@resolvers.mutation("createNote")
def create_note(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add a note to a subject, or to a discussion of it."""
    place = _commentable(context, sent["noteableId"])
    params = renamed(sent, body="body", internal="internal", merge_request_diff_head_sha="mergeRequestDiffHeadSha")
    if sent.get("discussionId") is None:
        created = context.call(f"POST {place.route}/notes", params, **place.path)
        return _created_note(place, sent["body"], created)
    discussion = parse_global_id(sent["discussionId"], *DISCUSSION_MODELS).key
    route = f"POST {place.route}/discussions/:discussion_id/notes"
    created = context.call(route, params, **place.path, discussion_id=discussion)
    return _created_note(place, sent["body"], created)


@resolvers.mutation("createDiscussion")
def create_discussion(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Start a discussion on a subject."""
    place = _commentable(context, sent["noteableId"])
    params = renamed(sent, body="body", internal="internal")
    created = context.call(f"POST {place.route}/discussions", params, **place.path)
    return _created_note(place, sent["body"], created)


@resolvers.mutation("createDiffNote")
def create_diff_note(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Start a discussion on a line of a merge request."""
    parse_global_id(sent["noteableId"], "MergeRequest")
    place = subject_of(context, sent["noteableId"])
    given = sent["position"]
    paths = given["paths"]
    if not paths.get("newPath") and not paths.get("oldPath"):
        raise Invalid("A position needs the path of a file")
    position = renamed(
        given, base_sha="baseSha", head_sha="headSha", start_sha="startSha", new_line="newLine", old_line="oldLine"
    )
    position |= {
        "position_type": "text",
        "new_path": paths.get("newPath") or paths.get("oldPath"),
        "old_path": paths.get("oldPath") or paths.get("newPath"),
    }
    params = {**renamed(sent, body="body", internal="internal"), "position": position}
    created = context.call(f"POST {place.route}/discussions", params, **place.path)
    return _created_note(place, sent["body"], created)


def _note_call(context: QueryContext, method: str, note_id: int, params: dict[str, Any] | None = None) -> Any:
    place = note_place(context, note_id)
    if "sha" in place.subject.path:
        route = f"{method} {place.subject.route}/discussions/:discussion_id/notes/:note_id"
        return context.call(route, params, **place.subject.path, discussion_id=place.discussion_id, note_id=note_id)
    return context.call(f"{method} {place.subject.route}/notes/:note_id", params, **place.subject.path, note_id=note_id)


@resolvers.mutation("updateNote")
def update_note(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit the text of a note."""
    note_id = parse_global_id(sent["id"], *NOTE_MODELS).number
    return _note(_note_call(context, "PUT", note_id, renamed(sent, body="body")))


@resolvers.mutation("destroyNote")
def destroy_note(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a note."""
    note_id = parse_global_id(sent["id"], *NOTE_MODELS).number
    note_by_id(context, note_id)
    _note_call(context, "DELETE", note_id)
    return {"note": None}


@resolvers.mutation("discussionToggleResolve")
def toggle_resolution(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Resolve a discussion of a merge request, or open it again."""
    discussion = parse_global_id(sent["id"], *DISCUSSION_MODELS).key
    place = discussion_place(context, discussion).subject
    if "merge_request_iid" not in place.path:
        raise NotFound("Discussion")
    route = f"PUT {place.route}/discussions/:discussion_id"
    params = {"resolved": sent["resolve"]}
    return {"discussion": context.call(route, params, **place.path, discussion_id=discussion)}


def _awardable(context: QueryContext, global_id: str) -> tuple[str, dict[str, Any]]:
    """Return the route of the award emoji of a subject or note, and its parameters."""
    parsed = parse_global_id(global_id)
    if parsed.model in NOTE_MODELS:
        place = note_place(context, parsed.number).subject
        return f"{place.route}/notes/:note_id/award_emoji", {**place.path, "note_id": parsed.number}
    place = _commentable(context, global_id)
    return f"{place.route}/award_emoji", place.path


def _own_award(context: QueryContext, route: str, path: dict[str, Any], typed: str) -> Any:
    name = canonical_name(typed)
    awards = context.call(f"GET {route}", {"per_page": 100}, **path).items
    return next((each for each in awards if each.name == name and each.user.id == context.actor.user_id), None)


@resolvers.mutation("awardEmojiAdd")
def add_award(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add an award emoji."""
    route, path = _awardable(context, sent["awardableId"])
    if _own_award(context, route, path, sent["name"]) is not None:
        raise Invalid(name=["has already been taken"])
    if canonical_name(sent["name"]) is None:
        raise Invalid(name=["is not a valid emoji name"])
    return {"award_emoji": context.call(f"POST {route}", {"name": sent["name"]}, **path)}


@resolvers.mutation("awardEmojiRemove")
def remove_award(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Remove an award emoji of the caller."""
    route, path = _awardable(context, sent["awardableId"])
    award = _own_award(context, route, path, sent["name"])
    if award is None:
        raise Invalid(f"User has not awarded emoji of type {sent['name'][:100]} on the awardable")
    context.call(f"DELETE {route}/:award_id", **path, award_id=award.id)
    return {"award_emoji": None}


@resolvers.mutation("awardEmojiToggle")
def toggle_award(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add an award emoji, or remove it if the caller has given it."""
    route, path = _awardable(context, sent["awardableId"])
    is_given = _own_award(context, route, path, sent["name"]) is not None
    return (remove_award if is_given else add_award)(context, sent) | {"toggled_on": not is_given}
