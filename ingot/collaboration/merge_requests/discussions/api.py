"""Endpoints of the notes, discussions, approvals, award emoji, resource events and todos of merge requests."""

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec import UNSET

from ingot.accounts.sessions.password_check import is_current_password
from ingot.accounts.users.queries import find_user
from ingot.collaboration.emoji.api import declare_award_routes
from ingot.collaboration.merge_requests import approvals
from ingot.collaboration.merge_requests import policy as merge_request_policy
from ingot.collaboration.merge_requests.approval_rules.views import ApprovalsView
from ingot.collaboration.merge_requests.discussions import create, policy, service
from ingot.collaboration.merge_requests.discussions.params import (
    ApproveMergeRequest,
    CreateDiscussion,
    EditDiscussionNote,
    ResolveDiscussion,
)
from ingot.collaboration.merge_requests.discussions.views import ReviewerView, reviewer_views
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.policy import MergeRequestLookup, may_approve
from ingot.collaboration.merge_requests.queries import find_merge_request
from ingot.collaboration.merge_requests.quick_actions.definitions import MERGE_REQUEST_COMMANDS
from ingot.collaboration.merge_requests.quick_actions.execute import execute_commands
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.notes.api import DiscussionPaths, NoteCommands, NotePaths, discussion_routes, note_routes
from ingot.collaboration.notes.params import WriteNote
from ingot.collaboration.notes.policy import may_edit_note, may_write_notes
from ingot.collaboration.notes.queries import find_discussion, find_note_on
from ingot.collaboration.notes.service import edit_note
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.notes.views import (
    CommandsView,
    DiscussionView,
    NoteView,
    add_command_result,
    discussion_view,
    note_view,
)
from ingot.collaboration.quick_actions.command_context import CommandResult
from ingot.collaboration.resource_events.api import ResourceEventPaths, resource_event_routes
from ingot.collaboration.subjects import SubjectAccess
from ingot.collaboration.todos.api import declare_todo_routes
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.api.params import MissingParameter, path_number
from ingot.core.api.routes import AlternateResponse, Call, PrepareContext, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Denied
from ingot.core.markup.quick_actions import Command, extract_commands
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project

routes = Routes("merge_requests")


def merge_request_subject_in_path(call: Call) -> tuple[Access, SubjectAccess]:
    """Find the merge request that the path names, as a subject with the caller's access."""
    access, lookup = merge_request_in_path(call)
    return access, policy.merge_request_subject_access(call.actor, access, lookup, subject_of(lookup.merge_request))


def _execute_commands(call: Call, params: WriteNote, commands: Sequence[Command]) -> CommandResult:
    lookup, store = merge_request_in_path(call)[1], repository_store(call.settings)
    return execute_commands(call.db, store, call.actor, lookup, commands, params.merge_request_diff_head_sha)


note_commands = NoteCommands(MERGE_REQUEST_COMMANDS.names, _execute_commands)
NOTES = note_routes(
    routes,
    merge_request_subject_in_path,
    NotePaths(
        notes="/projects/:id/merge_requests/:merge_request_iid/notes",
        note="/projects/:id/merge_requests/:merge_request_iid/notes/:note_id",
        awards="/projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji",
        award="/projects/:id/merge_requests/:merge_request_iid/notes/:note_id/award_emoji/:award_id",
    ),
    note_commands,
)
_DISCUSSIONS = discussion_routes(
    routes,
    merge_request_subject_in_path,
    DiscussionPaths(
        discussions="/projects/:id/merge_requests/:merge_request_iid/discussions",
        discussion="/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id",
        notes="/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes",
        note="/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id",
    ),
    begins=False,
    edits=False,
    note_commands=note_commands,
)
AWARDS = declare_award_routes(
    routes,
    merge_request_subject_in_path,
    awards="/projects/:id/merge_requests/:merge_request_iid/award_emoji",
    award="/projects/:id/merge_requests/:merge_request_iid/award_emoji/:award_id",
)
resource_event_routes(
    routes,
    merge_request_subject_in_path,
    ResourceEventPaths(
        label_events="/projects/:id/merge_requests/:merge_request_iid/resource_label_events",
        label_event="/projects/:id/merge_requests/:merge_request_iid/resource_label_events/:event_id",
        milestone_events="/projects/:id/merge_requests/:merge_request_iid/resource_milestone_events",
        milestone_event="/projects/:id/merge_requests/:merge_request_iid/resource_milestone_events/:event_id",
        state_events="/projects/:id/merge_requests/:merge_request_iid/resource_state_events",
        state_event="/projects/:id/merge_requests/:merge_request_iid/resource_state_events/:event_id",
    ),
)
add_todo = declare_todo_routes(
    routes, merge_request_subject_in_path, todo="/projects/:id/merge_requests/:merge_request_iid/todo"
)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/discussions",
    on=merge_request_subject_in_path,
    may=may_write_notes,
    returns=DiscussionView,
    staged=True,
    instead={202: CommandsView},
)
def create_discussion(
    stage: StagedCall, subject_access: SubjectAccess, params: CreateDiscussion
) -> DiscussionView | AlternateResponse:
    """Start a discussion about a merge request, or about a line of its diff."""

    def show(db: Connection, note: Note) -> DiscussionView:
        return discussion_view(db, subject_access.subject, [note], stage.origin.base)

    store = repository_store(stage.settings)
    text, commands = extract_commands(params.body, note_commands.names)
    note_params = msgspec.structs.replace(params, body=text)

    def execute(db: Connection) -> CommandResult:
        lookup = find_merge_request(db, stage.actor, stage.path["id"], stage.path["merge_request_iid"])
        return execute_commands(db, store, stage.actor, lookup, commands, params.merge_request_diff_head_sha)

    if commands and not text:
        return AlternateResponse(202, CommandsView(*stage.database.write(execute)))
    _, project = stage.database.read(lambda db: find_project(db, stage.actor, subject_access.subject.project_id or 0))

    def after_note(db: Connection, view: DiscussionView) -> None:
        add_command_result(view, execute(db))

    return create.create_discussion(
        stage.database,
        store.open(project.repository_key),
        stage.actor,
        subject_access,
        note_params,
        show,
        after_note if commands else None,
    )


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id",
    on=merge_request_subject_in_path,
    may=policy.may_resolve,
    returns=DiscussionView,
)
def resolve_discussion(call: Call, subject_access: SubjectAccess, params: ResolveDiscussion) -> DiscussionView:
    """Resolve or unresolve a discussion of a merge request."""
    discussion = find_discussion(call.db, call.actor, subject_access, call.path["discussion_id"])
    service.resolve_discussion_notes(call.db, call.actor, subject_access.subject, discussion, resolved=params.resolved)
    discussion = find_discussion(call.db, call.actor, subject_access, call.path["discussion_id"])
    return discussion_view(call.db, subject_access.subject, discussion, call.origin.base)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id",
    on=merge_request_subject_in_path,
    may=may_write_notes,
    returns=NoteView,
)
def edit_discussion_note(call: Call, subject_access: SubjectAccess, params: EditDiscussionNote) -> NoteView:
    """Edit a note of a discussion, or resolve or unresolve it."""
    ids = call.path["note_id"], call.path["discussion_id"]
    note = find_note_on(call.db, call.actor, subject_access, *ids)
    if params.body is UNSET and params.resolved is UNSET:
        raise MissingParameter("body")
    if params.body is not UNSET:
        require(may_edit_note(call.actor, subject_access, note))
        edit_note(call.db, call.actor, note, params.body)
    if params.resolved is not UNSET:
        require(subject_access.may_resolve)
        service.resolve_discussion_notes(call.db, call.actor, subject_access.subject, [note], resolved=params.resolved)
    edited = find_note_on(call.db, call.actor, subject_access, *ids)
    return note_view(call.db, subject_access.subject, edited, call.origin.base)


DISCUSSIONS = _DISCUSSIONS._replace(begin=create_discussion, edit_note=edit_discussion_note)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/reviewers",
    on=merge_request_in_path,
    may=merge_request_policy.may_read_merge_request,
    returns=list[ReviewerView],
)
def list_reviewers(call: Call, lookup: MergeRequestLookup) -> list[ReviewerView]:
    """List the reviewers of a merge request, and the results of their reviews."""
    approvers = approvals.approvers_of(call.db, lookup.merge_request.id)
    return reviewer_views(call.db, lookup.merge_request.id, lookup.reviewers, approvers, call.origin.base)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/reviewers/:user_id/request_review",
    on=merge_request_in_path,
    may=merge_request_policy.may_edit_merge_request,
    returns=list[ReviewerView],
)
def request_review(call: Call, lookup: MergeRequestLookup) -> list[ReviewerView]:
    """Ask a reviewer of a merge request for another review, which removes the reviewer's approval."""
    approvals.request_review(call.db, call.actor, lookup, path_number(call.path, "user_id"))
    return list_reviewers(call, lookup)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/approvals",
    on=merge_request_in_path,
    may=merge_request_policy.may_read_merge_request,
    returns=ApprovalsView,
)
def get_approvals(call: Call, lookup: MergeRequestLookup) -> ApprovalsView:
    """Get the approvals of a merge request."""
    return approvals.approvals_as_view(call, lookup)


def _is_password_correct(context: PrepareContext, params: ApproveMergeRequest) -> bool:
    """Check the caller's password, before the transaction because hashing is slow, if the project demands it."""
    if params.approval_password is None:
        return False
    path, actor = context.path, context.actor
    find = partial(find_merge_request, actor=actor, project_name=path["id"], iid=path["merge_request_iid"])
    if not context.database.read(find).approval_options.require_password_to_approve:
        return False
    user = context.database.read(partial(find_user, user_id=actor.user_id))
    return is_current_password(context.database, user, params.approval_password)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/approve",
    on=merge_request_in_path,
    may=may_approve,
    returns=ApprovalsView,
    prepare=_is_password_correct,
    denied=401,  # The specification demands 401 here; other endpoints respond 403.
)
def approve_merge_request(
    call: Call, lookup: MergeRequestLookup, params: ApproveMergeRequest, with_password: bool
) -> ApprovalsView:
    """Approve a merge request."""
    if lookup.approval_options.require_password_to_approve and not with_password:
        raise Denied("The project requires your password to approve, which is missing or wrong")
    if params.sha and params.sha.lower() != lookup.merge_request.head_oid:
        raise Conflict(f"SHA does not match HEAD of source branch: {lookup.merge_request.head_oid}")
    require(not approvals.is_excluded_committer(call.db, repository_store(call.settings), call.actor, lookup))
    approvals.approve(call.db, call.actor, lookup.merge_request)
    return approvals.approvals_as_view(call, lookup)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/unapprove",
    on=merge_request_in_path,
    may=may_approve,
    returns=ApprovalsView,
    denied=401,
)
def unapprove_merge_request(call: Call, lookup: MergeRequestLookup) -> ApprovalsView:
    """Remove the caller's approval of a merge request."""
    approvals.unapprove(call.db, call.actor, lookup.merge_request)
    return approvals.approvals_as_view(call, lookup)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/reset_approvals",
    on=merge_request_in_path,
    may=policy.may_reset_approvals,
    returns=ApprovalsView,
    status=202,
)
def reset_approvals(call: Call, lookup: MergeRequestLookup) -> ApprovalsView:
    """Remove all approvals of a merge request."""
    approvals.reset_approvals(call.db, lookup.merge_request)
    return approvals.approvals_as_view(call, lookup)
