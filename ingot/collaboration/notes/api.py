"""Endpoints of notes and discussions: on commits, and declared for each other kind of subject that has them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from ingot.collaboration.emoji.api import AwardHandlers, declare_award_routes
from ingot.collaboration.notes import policy, post, queries, service
from ingot.collaboration.notes.params import EditNote, ListNotes, PostComment, WriteNote
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.notes.views import (
    CommandsView,
    CommentView,
    DiscussionView,
    NoteView,
    add_command_result,
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
    listing = queries.list_comments(call.db, context.project.id, commit.oid, page)
    return listing.of(comment_views(call.db, listing.items, call.origin.base))


@routes.post(
    "/projects/:id/repository/commits/:sha/comments",
    on=repository_in_path,
    may=policy.may_comment_on_code,
    returns=CommentView,
    staged=True,
)
def post_comment(stage: StagedCall, context: RepositoryContext, params: PostComment) -> CommentView:
    """Comment on a commit, or on a line that it changed."""
    return post.post_comment(stage.database, stage.actor, context, stage.path["sha"], params, stage.origin.base)


@routes.post(
    "/projects/:id/repository/commits/:sha/discussions",
    on=repository_in_path,
    may=policy.may_comment_on_code,
    returns=DiscussionView,
    staged=True,
)
def create_commit_discussion(stage: StagedCall, context: RepositoryContext, params: WriteNote) -> DiscussionView:
    """Start a discussion about a commit."""
    subject = queries.commit_subject(context.project.id, find_commit(context.repository, stage.path["sha"]).oid)
    subject_access = SubjectAccess(
        subject, may_participate=True, may_set_times=may_own_project(stage.actor, context.access, context.project)
    )
    return post.create_discussion(stage.database, stage.actor, context, subject_access, params, stage.origin.base)


def commit_in_path(call: Call) -> tuple[Access, SubjectAccess]:
    """Find the commit in the path; raise Denied if the caller may not read the code."""
    access, context = repository_in_path(call)
    require(may_read_code(call.actor, access, context))
    return access, SubjectAccess(
        queries.commit_subject(context.project.id, find_commit(context.repository, call.path["sha"]).oid),
        may_participate=policy.may_comment_on_code(call.actor, access, context),
        may_moderate=may_admin_project(call.actor, access, context.project),
        may_set_times=may_own_project(call.actor, access, context.project),
    )


class NoteCommands(NamedTuple):
    """The quick actions allowed in notes on a kind of subject, and the function that executes them."""

    names: frozenset[str]
    execute: Callable[[Call, WriteNote, Sequence[Command]], CommandResult]


NO_NOTE_COMMANDS = NoteCommands(frozenset(), lambda *_: CommandResult({}, []))


def _write_and_execute(
    call: Call, note_commands: NoteCommands, params: WriteNote, write: Callable[[WriteNote], V]
) -> V | AlternateResponse:
    """Write the note without its quick actions, then execute them.

    A text that contains only quick actions creates no note and is answered with 202.
    """
    text, commands = extract_commands(params.body, note_commands.names) if note_commands.names else (params.body, ())
    if not commands:
        return write(msgspec.structs.replace(params, body=text))
    if not text:
        return AlternateResponse(202, CommandsView(*note_commands.execute(call, params, commands)))
    written = write(msgspec.structs.replace(params, body=text))
    add_command_result(written, note_commands.execute(call, params, commands))
    return written


class NoteHandlers(NamedTuple):
    """Handlers of the notes on one kind of subject, by which pages call them."""

    list_notes: Callable[..., Listing[NoteView]]
    write_note: Callable[..., NoteView | AlternateResponse]
    awards: AwardHandlers


class DiscussionHandlers(NamedTuple):
    """Handlers of the discussions on one kind of subject, by which pages call them."""

    list_discussions: Callable[..., Listing[DiscussionView]]
    get_discussion: Callable[..., DiscussionView]
    reply: Callable[..., NoteView | AlternateResponse]
    get_note: Callable[..., NoteView]
    delete_note: Callable[..., None]
    begin: Callable[..., DiscussionView | AlternateResponse]
    edit_note: Callable[..., NoteView]


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
) -> NoteHandlers:
    """Declare the notes on the subjects that ``finder`` finds, and the award emoji of those notes."""
    notes_path, note_path = paths.notes, paths.note

    @routes.get(notes_path, on=finder, may=policy.may_read_notes, returns=list[NoteView], cached=True)
    def list_notes(call: Call, subject_access: SubjectAccess, params: ListNotes, page: Page) -> Listing[NoteView]:
        """List the notes on a subject, newest first by default."""
        listing = queries.list_notes(call.db, call.actor, subject_access, params, page)
        return listing.of(note_views(call.db, subject_access.subject, listing.items, call.origin.base))

    @routes.post(
        notes_path, on=finder, may=policy.may_write_notes, returns=NoteView, instead=_alternate_response(note_commands)
    )
    def write_note(call: Call, subject_access: SubjectAccess, params: WriteNote) -> NoteView | AlternateResponse:
        """Create a note on a subject."""

        def write(note_params: WriteNote) -> NoteView:
            return _note_as_view(
                call, subject_access.subject, service.write_note(call.db, call.actor, subject_access, note_params)
            )

        return _write_and_execute(call, note_commands, params, write)

    @routes.get(note_path, on=finder, may=policy.may_read_notes, returns=NoteView, cached=True)
    def get_note(call: Call, subject_access: SubjectAccess) -> NoteView:
        """Get a note on a subject."""
        return _note_as_view(call, subject_access.subject, _note_in_path(call, subject_access))

    @routes.put(note_path, on=finder, may=policy.may_write_notes, returns=NoteView)
    def edit_note(call: Call, subject_access: SubjectAccess, params: EditNote) -> NoteView:
        """Edit a note on a subject."""
        return _edit(call, subject_access, params)

    @routes.delete(note_path, on=finder, may=policy.may_write_notes, returns=None)
    def delete_note(call: Call, subject_access: SubjectAccess) -> None:
        """Delete a note on a subject."""
        _delete(call, subject_access)

    def note_in_path(call: Call) -> tuple[Access, SubjectAccess]:
        access, subject_access = finder(call)
        note = _note_in_path(call, subject_access)
        # System notes cannot be given award emoji.
        return access, subject_access._replace(
            subject=_as_subject(note), may_participate=subject_access.may_participate and not note.system
        )

    awards = declare_award_routes(routes, note_in_path, awards=paths.awards, award=paths.award, suffix="_of_note")
    return NoteHandlers(list_notes, write_note, awards)


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
) -> DiscussionHandlers:
    """Declare the discussions on the subjects that ``finder`` finds.

    A package that declares the creation of a discussion or the edit of its notes itself turns off ``begins`` or
    ``edits``.
    """
    discussions_path, discussion_path, replies_path, reply_path = paths

    @routes.get(discussions_path, on=finder, may=policy.may_read_notes, returns=list[DiscussionView], cached=True)
    def list_discussions(call: Call, subject_access: SubjectAccess, page: Page) -> Listing[DiscussionView]:
        """List the discussions on a subject, oldest first."""
        listing, notes_by_discussion = queries.list_discussions(call.db, call.actor, subject_access, page)
        return listing.of(
            discussion_views(call.db, subject_access.subject, listing.items, notes_by_discussion, call.origin.base)
        )

    def begin_discussion(
        call: Call, subject_access: SubjectAccess, params: WriteNote
    ) -> DiscussionView | AlternateResponse:
        """Start a discussion on a subject."""

        def write(note_params: WriteNote) -> DiscussionView:
            note = service.write_note(call.db, call.actor, subject_access, note_params, service.IN_DISCUSSION)
            return discussion_view(call.db, subject_access.subject, [note], call.origin.base)

        return _write_and_execute(call, note_commands, params, write)

    if begins:
        may, instead = policy.may_write_notes, _alternate_response(note_commands)
        routes.post(discussions_path, on=finder, may=may, returns=DiscussionView, instead=instead)(begin_discussion)

    @routes.get(discussion_path, on=finder, may=policy.may_read_notes, returns=DiscussionView, cached=True)
    def get_discussion(call: Call, subject_access: SubjectAccess) -> DiscussionView:
        """Get a discussion on a subject."""
        return discussion_view(
            call.db, subject_access.subject, _discussion_in_path(call, subject_access), call.origin.base
        )

    @routes.get(replies_path, on=finder, may=policy.may_read_notes, returns=list[NoteView])
    def list_discussion_notes(call: Call, subject_access: SubjectAccess) -> list[NoteView]:
        """List the notes of a discussion, oldest first."""
        return note_views(call.db, subject_access.subject, _discussion_in_path(call, subject_access), call.origin.base)

    @routes.post(
        replies_path,
        on=finder,
        may=policy.may_write_notes,
        returns=NoteView,
        instead=_alternate_response(note_commands),
    )
    def reply(call: Call, subject_access: SubjectAccess, params: WriteNote) -> NoteView | AlternateResponse:
        """Add a note to a discussion."""
        discussion = _discussion_in_path(call, subject_access)

        def write(note_params: WriteNote) -> NoteView:
            return _note_as_view(
                call,
                subject_access.subject,
                service.reply_to_discussion(call.db, call.actor, subject_access, discussion, note_params),
            )

        return _write_and_execute(call, note_commands, params, write)

    @routes.get(reply_path, on=finder, may=policy.may_read_notes, returns=NoteView)
    def get_discussion_note(call: Call, subject_access: SubjectAccess) -> NoteView:
        """Get a note of a discussion."""
        return _note_as_view(call, subject_access.subject, _note_in_path(call, subject_access))

    def edit_discussion_note(call: Call, subject_access: SubjectAccess, params: EditNote) -> NoteView:
        """Edit a note of a discussion."""
        return _edit(call, subject_access, params)

    if edits:
        routes.put(reply_path, on=finder, may=policy.may_write_notes, returns=NoteView)(edit_discussion_note)

    @routes.delete(reply_path, on=finder, may=policy.may_write_notes, returns=None)
    def delete_discussion_note(call: Call, subject_access: SubjectAccess) -> None:
        """Delete a note of a discussion."""
        _delete(call, subject_access)

    return DiscussionHandlers(
        list_discussions,
        get_discussion,
        reply,
        get_discussion_note,
        delete_discussion_note,
        begin_discussion,
        edit_discussion_note,
    )


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
    """Delete the note in the path if it still exists; raise Denied if the caller may not edit it."""
    ids = call.path["note_id"], call.path.get("discussion_id")
    note = queries.note_on_or_none(call.db, call.actor, subject_access, *ids)
    if note is not None:
        require(policy.may_edit_note(call.actor, subject_access, note))
        service.delete_note(call.db, note)


def _as_subject(note: Note) -> Subject:
    """Return a note as the subject of award emoji."""
    return Subject("note", note.project_id, note.id, author_id=note.author_id)


COMMIT_DISCUSSIONS = discussion_routes(
    routes,
    commit_in_path,
    DiscussionPaths(
        discussions="/projects/:id/repository/commits/:sha/discussions",
        discussion="/projects/:id/repository/commits/:sha/discussions/:discussion_id",
        notes="/projects/:id/repository/commits/:sha/discussions/:discussion_id/notes",
        note="/projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id",
    ),
    begins=False,
)._replace(begin=create_commit_discussion)
