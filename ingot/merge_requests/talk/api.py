"""What people say about merge requests over the API; most of it is the same for whatever is talked about."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from ingot.access.levels import Access
from ingot.access.rules import require
from ingot.api.params import Missing
from ingot.api.routes import Call, Instead, Routes, Stage
from ingot.commands.desk import Obeyed
from ingot.db.connection import Connection
from ingot.emoji.api import award_routes
from ingot.errors import Conflict
from ingot.histories.api import history_routes
from ingot.markup.commands import Command, commands_in
from ingot.merge_requests import policy as merge_request_policy
from ingot.merge_requests.api import merge_request_in_path
from ingot.merge_requests.commands.known import MERGE_REQUESTS
from ingot.merge_requests.commands.obeying import obey_commands
from ingot.merge_requests.policy import Found, may_approve
from ingot.merge_requests.queries import find_merge_request
from ingot.merge_requests.service import subject_of
from ingot.merge_requests.talk import approving, policy, service, work
from ingot.merge_requests.talk.params import Approve, BeginDiscussion, EditOrResolve, Resolve
from ingot.merge_requests.talk.views import (
    ApprovalStateView,
    ApprovalsView,
    ReviewerView,
    approvals_view,
    reviewer_views,
)
from ingot.notes.api import Orders, discussion_routes, note_routes
from ingot.notes.params import WriteNote
from ingot.notes.policy import may_change_note, may_write_notes
from ingot.notes.queries import find_discussion, find_note_on
from ingot.notes.service import edit_note
from ingot.notes.tables import Note
from ingot.notes.views import CommandsView, DiscussionView, NoteView, discussion_view, note_view
from ingot.projects.api import store_of
from ingot.projects.queries import find_project
from ingot.subjects import Reached
from ingot.todos.api import todo_routes

routes = Routes("merge_requests")
_PATH = "/projects/:id/merge_requests/:merge_request_iid"


def merge_request_subject_in_path(call: Call) -> tuple[Access, Reached]:
    """The merge request that the path names, as something that is talked about."""
    here, found = merge_request_in_path(call)
    return here, policy.reach(call.actor, here, found, subject_of(found.merge_request))


def _obey(call: Call, wanted: WriteNote, commands: Sequence[Command]) -> Obeyed:
    found, store = merge_request_in_path(call)[1], store_of(call.settings)
    return obey_commands(call.db, store, call.actor, found, commands, wanted.merge_request_diff_head_sha)


orders = Orders(MERGE_REQUESTS.names, _obey)
note_routes(routes, _PATH, merge_request_subject_in_path, orders)
discussion_routes(routes, _PATH, merge_request_subject_in_path, begins=False, edits=False, orders=orders)
award_routes(routes, _PATH, merge_request_subject_in_path)
history_routes(routes, _PATH, merge_request_subject_in_path)
todo_routes(routes, _PATH, merge_request_subject_in_path)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/discussions",
    on=merge_request_subject_in_path,
    may=may_write_notes,
    returns=DiscussionView,
    staged=True,
    instead={202: CommandsView},
)
def begin_discussion(stage: Stage, reached: Reached, params: BeginDiscussion) -> object:
    """Begin a discussion about a merge request, or about a line that it changes."""

    def show(db: Connection, note: Note) -> DiscussionView:
        return discussion_view(db, reached.subject, [note], stage.origin.base)

    store = store_of(stage.settings)
    text, commands = commands_in(params.body, orders.names)
    said = msgspec.structs.replace(params, body=text)

    def obey(db: Connection) -> Obeyed:
        found = find_merge_request(db, stage.actor, stage.path["id"], stage.path["merge_request_iid"])
        return obey_commands(db, store, stage.actor, found, commands, params.merge_request_diff_head_sha)

    if commands and not text:
        return Instead(202, CommandsView(*stage.database.write(obey)))
    _, project = stage.database.read(lambda db: find_project(db, stage.actor, reached.subject.project_id or 0))
    repository, then = store.open(project.repository_key), obey if commands else None
    return work.begin_discussion(stage.database, repository, stage.actor, reached, said, show, then)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id",
    on=merge_request_subject_in_path,
    may=policy.may_resolve,
    returns=DiscussionView,
)
def resolve_discussion(call: Call, reached: Reached, params: Resolve) -> DiscussionView:
    """Settle a discussion about a merge request, or take that back."""
    found = find_discussion(call.db, call.actor, reached, call.path["discussion_id"])
    service.resolve(call.db, call.actor, reached.subject, found, resolved=params.resolved)
    found = find_discussion(call.db, call.actor, reached, call.path["discussion_id"])
    return discussion_view(call.db, reached.subject, found, call.origin.base)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id",
    on=merge_request_subject_in_path,
    may=may_write_notes,
    returns=NoteView,
)
def edit_discussion_note(call: Call, reached: Reached, params: EditOrResolve) -> NoteView:
    """Edit a note of a discussion, settle what it asks for, or take that back."""
    asked = call.path["note_id"], call.path["discussion_id"]
    note = find_note_on(call.db, call.actor, reached, *asked)
    if params.body is UNSET and params.resolved is UNSET:
        raise Missing("body")
    if params.body is not UNSET:
        require(may_change_note(call.actor, reached, note))
        edit_note(call.db, call.actor, note, params.body)
    if params.resolved is not UNSET:
        here, _ = find_project(call.db, call.actor, call.path["id"])
        require(policy.may_resolve(call.actor, here, reached))
        service.resolve(call.db, call.actor, reached.subject, [note], resolved=params.resolved)
    found = find_note_on(call.db, call.actor, reached, *asked)
    return note_view(call.db, reached.subject, found, call.origin.base)


def _approvals(call: Call, found: Found) -> ApprovalsView:
    approvers = approving.approvers_of(call.db, found.merge_request.id)
    may = may_approve(call.actor, found.here, found)
    asked = found.merge_request, approvers, call.actor.user_id, call.origin.base
    return approvals_view(call.db, *asked, may=may)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/reviewers",
    on=merge_request_in_path,
    may=merge_request_policy.may_read_found,
    returns=list[ReviewerView],
)
def list_reviewers(call: Call, found: Found) -> list[ReviewerView]:
    """List those who are to look at a merge request, and whether they approved of it."""
    approvers = approving.approvers_of(call.db, found.merge_request.id)
    return reviewer_views(call.db, found.reviewers, approvers, call.origin.base)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/approvals",
    on=merge_request_in_path,
    may=merge_request_policy.may_read_found,
    returns=ApprovalsView,
)
def get_approvals(call: Call, found: Found) -> ApprovalsView:
    """Get who approves of a merge request."""
    return _approvals(call, found)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/approval_state",
    on=merge_request_in_path,
    may=merge_request_policy.may_read_found,
    returns=ApprovalStateView,
)
def get_approval_state(call: Call, found: Found) -> ApprovalStateView:  # noqa: ARG001 - There are no rules.
    """Get the rules on approvals of a merge request; there are none."""
    return ApprovalStateView(approval_rules_overwritten=False, rules=[])


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/approve",
    on=merge_request_in_path,
    may=may_approve,
    returns=ApprovalsView,
    denied=401,  # The contract's word for a refusal here; elsewhere it is 403.
)
def approve(call: Call, found: Found, params: Approve) -> ApprovalsView:
    """Approve of a merge request."""
    if params.sha and params.sha.lower() != found.merge_request.head_oid:
        raise Conflict(f"SHA does not match HEAD of source branch: {found.merge_request.head_oid}")
    approving.approve(call.db, call.actor, found.merge_request)
    return _approvals(call, found)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/unapprove",
    on=merge_request_in_path,
    may=may_approve,
    returns=ApprovalsView,
    denied=401,
)
def unapprove(call: Call, found: Found) -> ApprovalsView:
    """Take an approval of a merge request back."""
    approving.unapprove(call.db, call.actor, found.merge_request)
    return _approvals(call, found)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/reset_approvals",
    on=merge_request_in_path,
    may=policy.may_reset_approvals,
    returns=ApprovalsView,
    status=202,
)
def reset_approvals(call: Call, found: Found) -> ApprovalsView:
    """Forget who approved of a merge request."""
    approving.reset_approvals(call.db, found.merge_request)
    return _approvals(call, found)
