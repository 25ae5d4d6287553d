"""Endpoints of notes and discussions: on commits, and declared for each other kind of subject that has them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from ingot.collaboration.emoji.api import declare_award_routes
from ingot.collaboration.notes import policy, queries, service, staged
from ingot.collaboration.notes.params import EditNote, ListNotes, PostComment, WriteNote
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.notes.views import (
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
from ingot.collaboration.quick_actions.command_context import CommandResult
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.api.routes import AlternateResponse, Call, Finder, Routes, StagedCall
from ingot.core.db.paging import Listing, Page
from ingot.core.markup.quick_actions import Command, extract_commands
from ingot.projects.projects.policy import may_admin_project, may_own_project
from ingot.repositories.commits.queries import find_commit
from ingot.repositories.context import RepositoryContext, may_read_code, repository_in_path

routes = Routes("notes")
V = TypeVar("V", NoteView, DiscussionView)


@routes.get(
    "/projects/:id/repository/commits/:sha/comments",
    on=repository_in_path,
    may=may_read_code,
    returns=list[CommentView],
)
def list_comments(call: Call, context: RepositoryContext, page: Page) -> Listing[CommentView]:
    """List the comments on a commit."""
    commit = find_commit(context.repository, call.path["sha"])
    found = queries.list_comments(call.db, context.project.id, commit.oid, page)
    return found.of(comment_views(call.db, found.items, call.origin.base))


@routes.post(
    "/projects/:id/repository/commits/:sha/comments",
    on=repository_in_path,
    may=policy.may_comment_on_code,
    returns=CommentView,
    staged=True,
)
def post_comment(stage: StagedCall, context: RepositoryContext, params: PostComment) -> CommentView:
    """Comment on a commit, or on a line that it changed."""
    return staged.post_comment(stage.database, stage.actor, context, stage.path["sha"], params, stage.origin.base)


@routes.post(
    "/projects/:id/repository/commits/:sha/discussions",
    on=repository_in_path,
    may=policy.may_comment_on_code,
    returns=DiscussionView,
    staged=True,
)
def create_commit_discussion(stage: StagedCall, context: RepositoryContext, params: WriteNote) -> DiscussionView:
    """Begin a discussion about a commit."""
    subject = queries.commit_subject(context.project.id, find_commit(context.repository, stage.path["sha"]).oid)
    reached = SubjectAccess(
        subject, may_participate=True, may_set_times=may_own_project(stage.actor, context.access, context.project)
    )
    return staged.create_discussion(stage.database, stage.actor, context, reached, params, stage.origin.base)


def commit_in_path(call: Call) -> tuple[Access, SubjectAccess]:
    """The commit that the path names, for those who may read the code."""
    access, place = repository_in_path(call)
    require(may_read_code(call.actor, access, place))
    return access, SubjectAccess(
        queries.commit_subject(place.project.id, find_commit(place.repository, call.path["sha"]).oid),
        may_participate=policy.may_comment_on_code(call.actor, access, place),
        may_moderate=may_admin_project(call.actor, access, place.project),
        may_set_times=may_own_project(call.actor, access, place.project),
    )


class NoteCommands(NamedTuple):
    """What may be commanded in notes about something, and how the room that it belongs to obeys."""

    names: frozenset[str]
    execute: Callable[[Call, WriteNote, Sequence[Command]], CommandResult]


NO_NOTE_COMMANDS = NoteCommands(frozenset(), lambda *_: CommandResult({}, []))


def _write_and_execute(
    call: Call, note_commands: NoteCommands, params: WriteNote, write: Callable[[WriteNote], V]
) -> V | AlternateResponse:
    """Write what a text says, then do what it commands; of nothing but commands no note is made."""
    text, commands = extract_commands(params.body, note_commands.names) if note_commands.names else (params.body, ())
    if not commands:
        return write(msgspec.structs.replace(params, body=text))
    if not text:
        return AlternateResponse(202, CommandsView(*note_commands.execute(call, params, commands)))
    written = write(msgspec.structs.replace(params, body=text))
    note_commands.execute(call, params, commands)
    return written


class NotePaths(NamedTuple):
    """Paths of the notes on one kind of subject, and of the award emoji of a note."""

    notes: str
    note: str
    awards: str
    award: str


class DiscussionPaths(NamedTuple):
    """Paths of the discussions on one kind of subject, and of the notes of a discussion."""

    discussions: str
    discussion: str
    notes: str
    note: str


def note_routes(
    routes: Routes, finder: Finder, paths: NotePaths, note_commands: NoteCommands = NO_NOTE_COMMANDS
) -> None:
    """Declare the notes on the subjects that ``finder`` finds, and the award emoji of those notes."""
    every, one = paths.notes, paths.note

    @routes.get(every, on=finder, may=policy.may_read_notes, returns=list[NoteView])
    def list_notes(call: Call, reached: SubjectAccess, params: ListNotes, page: Page) -> Listing[NoteView]:
        """List the notes about something, the newest first."""
        found = queries.list_notes(call.db, call.actor, reached, params, page)
        return found.of(note_views(call.db, reached.subject, found.items, call.origin.base))

    @routes.post(
        every, on=finder, may=policy.may_write_notes, returns=NoteView, instead=_alternate_response(note_commands)
    )
    def write_note(call: Call, reached: SubjectAccess, params: WriteNote) -> NoteView | AlternateResponse:
        """Write a note about something."""

        def write(wanted: WriteNote) -> NoteView:
            return _note_as_view(call, reached.subject, service.write_note(call.db, call.actor, reached, wanted))

        return _write_and_execute(call, note_commands, params, write)

    @routes.get(one, on=finder, may=policy.may_read_notes, returns=NoteView)
    def get_note(call: Call, reached: SubjectAccess) -> NoteView:
        """Get a note about something."""
        return _note_as_view(call, reached.subject, _note_in_path(call, reached))

    @routes.put(one, on=finder, may=policy.may_write_notes, returns=NoteView)
    def edit_note(call: Call, reached: SubjectAccess, params: EditNote) -> NoteView:
        """Edit a note about something."""
        return _edit(call, reached, params)

    @routes.delete(one, on=finder, may=policy.may_write_notes, returns=None)
    def delete_note(call: Call, reached: SubjectAccess) -> None:
        """Delete a note about something."""
        _delete(call, reached)

    def note_in_path(call: Call) -> tuple[Access, SubjectAccess]:
        access, reached = finder(call)
        note = _note_in_path(call, reached)
        # System notes cannot be given award emoji.
        return access, reached._replace(
            subject=_as_subject(note), may_participate=reached.may_participate and not note.system
        )

    declare_award_routes(routes, note_in_path, awards=paths.awards, award=paths.award, suffix="_of_note")


def _alternate_response(note_commands: NoteCommands) -> dict[int, Any]:
    return {202: CommandsView} if note_commands.names else {}


def discussion_routes(
    routes: Routes,
    finder: Finder,
    paths: DiscussionPaths,
    *,
    begins: bool = True,
    edits: bool = True,
    note_commands: NoteCommands = NO_NOTE_COMMANDS,
) -> None:
    """Declare the discussions on the subjects that ``finder`` finds.

    A package that declares the creation of a discussion or the edit of its notes itself turns off ``begins`` or
    ``edits``.
    """
    every, one, replies, answer = paths

    @routes.get(every, on=finder, may=policy.may_read_notes, returns=list[DiscussionView])
    def list_discussions(call: Call, reached: SubjectAccess, page: Page) -> Listing[DiscussionView]:
        """List the discussions about something, the oldest first."""
        first, together = queries.list_discussions(call.db, call.actor, reached, page)
        return first.of(discussion_views(call.db, reached.subject, first.items, together, call.origin.base))

    if begins:

        @routes.post(
            every,
            on=finder,
            may=policy.may_write_notes,
            returns=DiscussionView,
            instead=_alternate_response(note_commands),
        )
        def begin_discussion(
            call: Call, reached: SubjectAccess, params: WriteNote
        ) -> DiscussionView | AlternateResponse:
            """Begin a discussion about something."""

            def write(wanted: WriteNote) -> DiscussionView:
                note = service.write_note(call.db, call.actor, reached, wanted, service.IN_DISCUSSION)
                return discussion_view(call.db, reached.subject, [note], call.origin.base)

            return _write_and_execute(call, note_commands, params, write)

    @routes.get(one, on=finder, may=policy.may_read_notes, returns=DiscussionView)
    def get_discussion(call: Call, reached: SubjectAccess) -> DiscussionView:
        """Get a discussion about something."""
        return discussion_view(call.db, reached.subject, _discussion_in_path(call, reached), call.origin.base)

    @routes.get(replies, on=finder, may=policy.may_read_notes, returns=list[NoteView])
    def list_discussion_notes(call: Call, reached: SubjectAccess) -> list[NoteView]:
        """List the notes of a discussion, the oldest first."""
        return note_views(call.db, reached.subject, _discussion_in_path(call, reached), call.origin.base)

    @routes.post(
        replies, on=finder, may=policy.may_write_notes, returns=NoteView, instead=_alternate_response(note_commands)
    )
    def reply(call: Call, reached: SubjectAccess, params: WriteNote) -> NoteView | AlternateResponse:
        """Answer in a discussion."""
        discussion = _discussion_in_path(call, reached)

        def write(wanted: WriteNote) -> NoteView:
            return _note_as_view(
                call, reached.subject, service.reply_to_discussion(call.db, call.actor, reached, discussion, wanted)
            )

        return _write_and_execute(call, note_commands, params, write)

    @routes.get(answer, on=finder, may=policy.may_read_notes, returns=NoteView)
    def get_discussion_note(call: Call, reached: SubjectAccess) -> NoteView:
        """Get a note of a discussion."""
        return _note_as_view(call, reached.subject, _note_in_path(call, reached))

    if edits:

        @routes.put(answer, on=finder, may=policy.may_write_notes, returns=NoteView)
        def edit_discussion_note(call: Call, reached: SubjectAccess, params: EditNote) -> NoteView:
            """Edit a note of a discussion."""
            return _edit(call, reached, params)

    @routes.delete(answer, on=finder, may=policy.may_write_notes, returns=None)
    def delete_discussion_note(call: Call, reached: SubjectAccess) -> None:
        """Delete a note of a discussion."""
        _delete(call, reached)


def _note_as_view(call: Call, subject: Subject, note: Note) -> NoteView:
    return note_view(call.db, subject, note, call.origin.base)


def _note_in_path(call: Call, subject_access: SubjectAccess) -> Note:
    return queries.find_note_on(
        call.db, call.actor, subject_access, call.path["note_id"], call.path.get("discussion_id")
    )


def _discussion_in_path(call: Call, subject_access: SubjectAccess) -> list[Note]:
    return queries.find_discussion(call.db, call.actor, subject_access, call.path["discussion_id"])


def _edit(call: Call, subject_access: SubjectAccess, params: EditNote) -> NoteView:
    note = _note_in_path(call, subject_access)
    require(policy.may_edit_note(call.actor, subject_access, note))
    return _note_as_view(call, subject_access.subject, service.edit_note(call.db, call.actor, note, params.body))


def _delete(call: Call, subject_access: SubjectAccess) -> None:
    """Take a note away, if it is still there."""
    asked = call.path["note_id"], call.path.get("discussion_id")
    note = queries.note_on_or_none(call.db, call.actor, subject_access, *asked)
    if note is not None:
        require(policy.may_edit_note(call.actor, subject_access, note))
        service.delete_note(call.db, note)


def _as_subject(note: Note) -> Subject:
    """A note as something that people give emoji to."""
    return Subject("note", note.project_id, note.id, author_id=note.author_id)


discussion_routes(
    routes,
    commit_in_path,
    DiscussionPaths(
        discussions="/projects/:id/repository/commits/:sha/discussions",
        discussion="/projects/:id/repository/commits/:sha/discussions/:discussion_id",
        notes="/projects/:id/repository/commits/:sha/discussions/:discussion_id/notes",
        note="/projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id",
    ),
    begins=False,
)
