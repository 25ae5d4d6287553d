"""Notes and discussions over the API: on commits, and on whatever a room lets people talk about."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from ingot.access.levels import Access
from ingot.access.rules import require
from ingot.api.routes import Call, Finder, Instead, Routes, Stage
from ingot.commands.desk import Obeyed
from ingot.db.paging import Listing, Page
from ingot.emoji.api import award_routes
from ingot.markup.commands import Command, commands_in
from ingot.notes import policy, queries, service, work
from ingot.notes.params import EditNote, ListNotes, PostComment, WriteNote
from ingot.notes.tables import Note
from ingot.notes.views import (
    CommandsView,
    CommentView,
    DiscussionView,
    NoteView,
    comment_views,
    discussion_view,
    discussion_views,
    note_view,
    note_views,
)
from ingot.projects.policy import may_admin_project, may_own_project
from ingot.repository.commits.queries import find_commit
from ingot.repository.place import Place, may_read_code, place_in_path
from ingot.subjects import Reached, Subject

routes = Routes("notes")
V = TypeVar("V", NoteView, DiscussionView)


@routes.get(
    "/projects/:id/repository/commits/:sha/comments", on=place_in_path, may=may_read_code, returns=list[CommentView]
)
def list_comments(call: Call, place: Place, page: Page) -> Listing[CommentView]:
    """List the comments on a commit."""
    commit = find_commit(place.repository, call.path["sha"])
    found = queries.list_comments(call.db, place.project.id, commit.oid, page)
    return found.of(comment_views(call.db, found.items, call.origin.base))


@routes.post(
    "/projects/:id/repository/commits/:sha/comments",
    on=place_in_path,
    may=policy.may_comment_on_code,
    returns=CommentView,
    staged=True,
)
def post_comment(stage: Stage, place: Place, params: PostComment) -> CommentView:
    """Comment on a commit, or on a line that it changed."""
    return work.post_comment(stage.database, stage.actor, place, stage.path["sha"], params, stage.origin.base)


@routes.post(
    "/projects/:id/repository/commits/:sha/discussions",
    on=place_in_path,
    may=policy.may_comment_on_code,
    returns=DiscussionView,
    staged=True,
)
def begin_commit_discussion(stage: Stage, place: Place, params: WriteNote) -> DiscussionView:
    """Begin a discussion about a commit."""
    subject = queries.commit_subject(place.project.id, find_commit(place.repository, stage.path["sha"]).oid)
    reached = Reached(subject, takes_part=True, sets_times=may_own_project(stage.actor, place.here, place.project))
    return work.begin_discussion(stage.database, stage.actor, place, reached, params, stage.origin.base)


def commit_in_path(call: Call) -> tuple[Access, Reached]:
    """The commit that the path names, for those who may read the code."""
    here, place = place_in_path(call)
    require(may_read_code(call.actor, here, place))
    return here, Reached(
        queries.commit_subject(place.project.id, find_commit(place.repository, call.path["sha"]).oid),
        takes_part=policy.may_comment_on_code(call.actor, here, place),
        moderates=may_admin_project(call.actor, here, place.project),
        sets_times=may_own_project(call.actor, here, place.project),
    )


class Orders(NamedTuple):
    """What may be commanded in notes about something, and how the room that it belongs to obeys."""

    names: frozenset[str]
    obey: Callable[[Call, WriteNote, Sequence[Command]], Obeyed]


NO_ORDERS = Orders(frozenset(), lambda *_: Obeyed({}, []))


def _said(call: Call, orders: Orders, wanted: WriteNote, write: Callable[[WriteNote], V]) -> V | Instead:
    """Write what a text says, then do what it commands; of nothing but commands no note is made."""
    text, commands = commands_in(wanted.body, orders.names) if orders.names else (wanted.body, ())
    if not commands:
        return write(msgspec.structs.replace(wanted, body=text))
    if not text:
        return Instead(202, CommandsView(*orders.obey(call, wanted, commands)))
    written = write(msgspec.structs.replace(wanted, body=text))
    orders.obey(call, wanted, commands)
    return written


def note_routes(routes: Routes, path: str, finder: Finder, orders: Orders = NO_ORDERS) -> None:
    """Declare the notes about what ``finder`` reaches below its path, and what people give to them."""
    every, one = f"{path}/notes", f"{path}/notes/:note_id"

    @routes.get(every, on=finder, may=policy.may_read_notes, returns=list[NoteView])
    def list_notes(call: Call, reached: Reached, params: ListNotes, page: Page) -> Listing[NoteView]:
        """List the notes about something, the newest first."""
        found = queries.list_notes(call.db, call.actor, reached, params, page)
        return found.of(note_views(call.db, reached.subject, found.items, call.origin.base))

    @routes.post(every, on=finder, may=policy.may_write_notes, returns=NoteView, instead=_instead(orders))
    def write_note(call: Call, reached: Reached, params: WriteNote) -> NoteView | Instead:
        """Write a note about something."""

        def write(wanted: WriteNote) -> NoteView:
            return _shown(call, reached.subject, service.write_note(call.db, call.actor, reached, wanted))

        return _said(call, orders, params, write)

    @routes.get(one, on=finder, may=policy.may_read_notes, returns=NoteView)
    def get_note(call: Call, reached: Reached) -> NoteView:
        """Get a note about something."""
        return _shown(call, reached.subject, _note_in_path(call, reached))

    @routes.put(one, on=finder, may=policy.may_write_notes, returns=NoteView)
    def edit_note(call: Call, reached: Reached, params: EditNote) -> NoteView:
        """Edit a note about something."""
        return _edit(call, reached, params)

    @routes.delete(one, on=finder, may=policy.may_write_notes, returns=None)
    def delete_note(call: Call, reached: Reached) -> None:
        """Delete a note about something."""
        _delete(call, reached)

    def note_in_path(call: Call) -> tuple[Access, Reached]:
        here, reached = finder(call)
        note = _note_in_path(call, reached)
        # What the system wrote is nobody's to like.
        return here, reached._replace(subject=_as_subject(note), takes_part=reached.takes_part and not note.system)

    award_routes(routes, one, note_in_path, suffix="_of_note")


def _instead(orders: Orders) -> dict[int, Any]:
    return {202: CommandsView} if orders.names else {}


def discussion_routes(
    routes: Routes, path: str, finder: Finder, *, begins: bool = True, edits: bool = True, orders: Orders = NO_ORDERS
) -> None:
    """Declare the discussions about what ``finder`` reaches.

    How one ``begins``, and how somebody ``edits`` a note of one, may be declared elsewhere.
    """
    every, one = f"{path}/discussions", f"{path}/discussions/:discussion_id"
    replies, answer = f"{one}/notes", f"{one}/notes/:note_id"

    @routes.get(every, on=finder, may=policy.may_read_notes, returns=list[DiscussionView])
    def list_discussions(call: Call, reached: Reached, page: Page) -> Listing[DiscussionView]:
        """List the discussions about something, the oldest first."""
        first, together = queries.list_discussions(call.db, call.actor, reached, page)
        return first.of(discussion_views(call.db, reached.subject, first.items, together, call.origin.base))

    if begins:

        @routes.post(every, on=finder, may=policy.may_write_notes, returns=DiscussionView, instead=_instead(orders))
        def begin_discussion(call: Call, reached: Reached, params: WriteNote) -> DiscussionView | Instead:
            """Begin a discussion about something."""

            def write(wanted: WriteNote) -> DiscussionView:
                note = service.write_note(call.db, call.actor, reached, wanted, service.IN_DISCUSSION)
                return discussion_view(call.db, reached.subject, [note], call.origin.base)

            return _said(call, orders, params, write)

    @routes.get(one, on=finder, may=policy.may_read_notes, returns=DiscussionView)
    def get_discussion(call: Call, reached: Reached) -> DiscussionView:
        """Get a discussion about something."""
        return discussion_view(call.db, reached.subject, _discussion_in_path(call, reached), call.origin.base)

    @routes.get(replies, on=finder, may=policy.may_read_notes, returns=list[NoteView])
    def list_discussion_notes(call: Call, reached: Reached) -> list[NoteView]:
        """List the notes of a discussion, the oldest first."""
        return note_views(call.db, reached.subject, _discussion_in_path(call, reached), call.origin.base)

    @routes.post(replies, on=finder, may=policy.may_write_notes, returns=NoteView, instead=_instead(orders))
    def reply(call: Call, reached: Reached, params: WriteNote) -> NoteView | Instead:
        """Answer in a discussion."""
        discussion = _discussion_in_path(call, reached)

        def write(wanted: WriteNote) -> NoteView:
            return _shown(call, reached.subject, service.reply(call.db, call.actor, reached, discussion, wanted))

        return _said(call, orders, params, write)

    @routes.get(answer, on=finder, may=policy.may_read_notes, returns=NoteView)
    def get_discussion_note(call: Call, reached: Reached) -> NoteView:
        """Get a note of a discussion."""
        return _shown(call, reached.subject, _note_in_path(call, reached))

    if edits:

        @routes.put(answer, on=finder, may=policy.may_write_notes, returns=NoteView)
        def edit_discussion_note(call: Call, reached: Reached, params: EditNote) -> NoteView:
            """Edit a note of a discussion."""
            return _edit(call, reached, params)

    @routes.delete(answer, on=finder, may=policy.may_write_notes, returns=None)
    def delete_discussion_note(call: Call, reached: Reached) -> None:
        """Delete a note of a discussion."""
        _delete(call, reached)


def _shown(call: Call, subject: Subject, note: Note) -> NoteView:
    return note_view(call.db, subject, note, call.origin.base)


def _note_in_path(call: Call, reached: Reached) -> Note:
    return queries.find_note_on(call.db, call.actor, reached, call.path["note_id"], call.path.get("discussion_id"))


def _discussion_in_path(call: Call, reached: Reached) -> list[Note]:
    return queries.find_discussion(call.db, call.actor, reached, call.path["discussion_id"])


def _edit(call: Call, reached: Reached, params: EditNote) -> NoteView:
    note = _note_in_path(call, reached)
    require(policy.may_change_note(call.actor, reached, note))
    return _shown(call, reached.subject, service.edit_note(call.db, call.actor, note, params.body))


def _delete(call: Call, reached: Reached) -> None:
    """Take a note away, if it is still there."""
    asked = call.path["note_id"], call.path.get("discussion_id")
    note = queries.note_on_or_none(call.db, call.actor, reached, *asked)
    if note is not None:
        require(policy.may_change_note(call.actor, reached, note))
        service.delete_note(call.db, note)


def _as_subject(note: Note) -> Subject:
    """A note as something that people give emoji to."""
    return Subject("note", note.project_id, note.id, author_id=note.author_id)


discussion_routes(routes, "/projects/:id/repository/commits/:sha", commit_in_path, begins=False)
