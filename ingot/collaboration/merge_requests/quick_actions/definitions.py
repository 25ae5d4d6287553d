"""Quick actions of merge requests."""

from dataclasses import dataclass

from ingot.collaboration.merge_requests.approvals import approve, approvers_of, is_excluded_committer, unapprove
from ingot.collaboration.merge_requests.draft_titles import add_draft_prefix, is_draft, remove_draft_prefix
from ingot.collaboration.merge_requests.editing import service
from ingot.collaboration.merge_requests.policy import MergeRequestLookup, may_approve, may_request_changes
from ingot.collaboration.merge_requests.queries import merge_request_by_id, open_duplicate_or_none
from ingot.collaboration.merge_requests.quick_actions.merge import can_be_merged, schedule_merge
from ingot.collaboration.merge_requests.review_states import record_review
from ingot.collaboration.merge_requests.service import lock_merge_request_row
from ingot.collaboration.planning.quick_actions import add_time_tracking
from ingot.collaboration.quick_actions.command_context import CommandContext, CommandRegistry
from ingot.collaboration.quick_actions.definitions import MAX_TITLE_LENGTH, PLANNING_COMMANDS
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.git.core.errors import MissingRepository
from ingot.git.history.commits import branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.queries import project_or_none


@dataclass(slots=True)
class MergeRequestCommandContext(CommandContext):
    """Context of the quick actions of a merge request."""

    title: str = ""
    """The current title, or that of the request while it is being created."""
    lookup: MergeRequestLookup | None = None
    """None while the merge request is being created."""
    store: RepositoryStore | None = None
    seen_head: str | None = None
    """The head commit that the author of the note has seen, if the request names it."""


MERGE_REQUEST_COMMANDS: CommandRegistry[MergeRequestCommandContext] = CommandRegistry(
    "/projects/:id/merge_requests/:merge_request_iid", PLANNING_COMMANDS
)


@MERGE_REQUEST_COMMANDS.on("reopen", routes=["PUT {}"])
def reopen(context: MergeRequestCommandContext, _: str) -> str | None:
    """Reopen the merge request if its source branch exists and no duplicate is open."""
    lookup = context.lookup
    if not context.may_edit or lookup is None or context.store is None or lookup.merge_request.state != "closed":
        return None
    source = project_or_none(context.db, lookup.merge_request.source_project_id or 0)
    if source is None or _tip(context.store, source.repository_key, lookup.merge_request.source_branch) is None:
        return None
    if _has_open_duplicate(context.db, lookup, lookup.merge_request.target_branch):
        return None
    context.pending_edits["state_event"] = "reopen"
    return "Reopened this."


@MERGE_REQUEST_COMMANDS.on("target_branch", routes=["PUT {}"])
def set_target(context: MergeRequestCommandContext, branch: str) -> str | None:
    """Change the target branch; for a new merge request, ``staged`` applies this before the comparison."""
    lookup = context.lookup
    if not context.may_edit or lookup is None or context.store is None or lookup.merge_request.state != "opened":
        return None
    merge_request = lookup.merge_request
    is_source = merge_request.source_project_id == lookup.project.id and branch == merge_request.source_branch
    if is_source or branch == merge_request.target_branch or not branch:
        return None
    if _tip(context.store, lookup.project.repository_key, branch) is None or _has_open_duplicate(
        context.db, lookup, branch
    ):
        return None
    context.pending_edits["target_branch"] = branch
    return f"Set target branch to {branch}."


@MERGE_REQUEST_COMMANDS.on("wip", routes=["PUT {}"])
def toggle_draft(context: MergeRequestCommandContext, _: str) -> str | None:
    """Toggle the draft status."""
    title = context.pending_edits.get("title", context.title)
    return _retitle(context, remove_draft_prefix(title) if is_draft(title) else add_draft_prefix(title, "WIP"))


@MERGE_REQUEST_COMMANDS.on("draft", routes=["PUT {}"])
def mark_draft(context: MergeRequestCommandContext, _: str) -> str | None:
    """Mark the merge request as a draft."""
    return _retitle(context, add_draft_prefix(context.pending_edits.get("title", context.title), "Draft"))


@MERGE_REQUEST_COMMANDS.on("ready", routes=["PUT {}"])
def mark_ready(context: MergeRequestCommandContext, _: str) -> str | None:
    """Mark the merge request as ready."""
    return _retitle(context, remove_draft_prefix(context.pending_edits.get("title", context.title)))


def _retitle(context: MergeRequestCommandContext, title: str) -> str | None:
    before = context.pending_edits.get("title", context.title)
    if not context.may_edit or title == before or not 0 < len(title) <= MAX_TITLE_LENGTH:
        return None
    context.pending_edits["title"] = title
    return f"Marked this merge request as {'draft' if is_draft(title) else 'ready'}."


@MERGE_REQUEST_COMMANDS.on("merge", routes=["PUT {}/merge"])
def merge(context: MergeRequestCommandContext, _: str) -> str | None:
    """Schedule the merge: at once by a job, or when the pipeline succeeds."""
    lookup = context.lookup
    if lookup is None or context.store is None:
        return None
    head, store = lookup.merge_request.head_oid, context.store
    if context.seen_head not in (None, head) or not can_be_merged(context.db, store, context.actor, lookup):
        return None

    def schedule(db: Connection, subject: Subject) -> None:
        if subject.id is not None:
            locked = lock_merge_request_row(db, lookup.merge_request)
            schedule_merge(db, store, context.actor, lookup._replace(merge_request=locked), head)

    context.effects.append(schedule)
    return "Scheduled to merge this merge request."


@MERGE_REQUEST_COMMANDS.on("approve", routes=["POST {}/approve"])
def approve_merge_request(context: MergeRequestCommandContext, _: str) -> str | None:
    """Approve the merge request, if the caller has not done so yet."""
    lookup = context.lookup
    if (
        lookup is None
        or lookup.merge_request.state != "opened"
        or lookup.approval_options.require_password_to_approve
        or not may_approve(context.actor, lookup.access, lookup)
    ):
        return None
    if context.actor.user_id in approvers_of(context.db, lookup.merge_request.id):
        return None
    if context.store is None or is_excluded_committer(context.db, context.store, context.actor, lookup):
        return None
    context.effects.append(lambda db, _: _approve(db, context.actor, lookup))
    return "Approved this merge request."


def _approve(db: Connection, actor: Actor, lookup: MergeRequestLookup) -> None:
    locked = lock_merge_request_row(db, lookup.merge_request)
    # Another quick action or a concurrent request may have closed or approved it.
    if locked.state == "opened" and actor.user_id not in approvers_of(db, locked.id):
        approve(db, actor, locked)


@MERGE_REQUEST_COMMANDS.on("unapprove", routes=["POST {}/unapprove"])
def unapprove_merge_request(context: MergeRequestCommandContext, _: str) -> str | None:
    """Remove the caller's approval."""
    lookup = context.lookup
    if lookup is None or not may_approve(context.actor, lookup.access, lookup):
        return None
    if context.actor.user_id not in approvers_of(context.db, lookup.merge_request.id):
        return None
    context.effects.append(lambda db, _: _unapprove(db, context.actor, lookup))
    return "Unapproved this merge request."


def _unapprove(db: Connection, actor: Actor, lookup: MergeRequestLookup) -> None:
    locked = lock_merge_request_row(db, lookup.merge_request)
    if actor.user_id in approvers_of(db, locked.id):
        unapprove(db, actor, locked)


@MERGE_REQUEST_COMMANDS.on("request_changes", routes=["POST {}/draft_notes/bulk_publish"])
def request_changes(context: MergeRequestCommandContext, _: str) -> str | None:
    """Request changes as the result of the caller's review, which blocks the merge."""
    lookup = context.lookup
    if lookup is None or lookup.merge_request.state != "opened":
        return None
    is_author = lookup.merge_request.author_id == context.actor.user_id
    if not may_request_changes(context.actor, lookup.access, lookup) or (
        is_author and context.actor.user_id not in lookup.reviewers
    ):
        return None

    def request(db: Connection, _: Subject) -> None:
        # Another quick action or a concurrent request may have closed it.
        if lock_merge_request_row(db, lookup.merge_request).state == "opened":
            record_review(db, context.actor, lookup, "requested_changes")

    context.effects.append(request)
    return "Requested changes to this merge request."


def _tip(store: RepositoryStore, key: str, branch: str) -> str | None:
    try:
        return branch_tip(store.open(key), branch)
    except MissingRepository:  # Deleted since the row was read.
        return None


def _has_open_duplicate(db: Connection, lookup: MergeRequestLookup, branch: str) -> bool:
    """Return whether another merge request between its source and a branch is open."""
    merge_request = lookup.merge_request
    source = merge_request.source_project_id
    if source is None:
        return False
    duplicate = open_duplicate_or_none(db, source, merge_request.source_branch, merge_request.target_project_id, branch)
    return duplicate is not None and duplicate.id != merge_request.id


add_time_tracking(MERGE_REQUEST_COMMANDS, service.TIME_TRACKING, merge_request_by_id)
