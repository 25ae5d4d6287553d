"""The commands that merge requests know."""

from dataclasses import dataclass

from ingot.collaboration.merge_requests.discussions.approvals import approve, approvers_of, unapprove
from ingot.collaboration.merge_requests.draft_titles import add_draft_prefix, is_draft, remove_draft_prefix
from ingot.collaboration.merge_requests.editing import service
from ingot.collaboration.merge_requests.policy import MergeRequestLookup, may_approve
from ingot.collaboration.merge_requests.queries import merge_request_by_id, open_duplicate_or_none
from ingot.collaboration.merge_requests.quick_actions.merge import can_be_merged, schedule_merge
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
    """The desk of a merge request."""

    title: str = ""
    """As it is, or as it is to be where it is being written."""
    found: MergeRequestLookup | None = None
    """Nothing while it is being written."""
    store: RepositoryStore | None = None
    seen: str | None = None
    """The head that whoever commands says they have seen."""


MERGE_REQUEST_COMMANDS: CommandRegistry[MergeRequestCommandContext] = CommandRegistry(PLANNING_COMMANDS)


@MERGE_REQUEST_COMMANDS.on("reopen")
def reopen(context: MergeRequestCommandContext, _: str) -> str | None:
    """Open it again, where it is closed, its source is still there and no other one has taken its place."""
    found = context.found
    if not context.may_edit or found is None or context.store is None or found.merge_request.state != "closed":
        return None
    source = project_or_none(context.db, found.merge_request.source_project_id or 0)
    if source is None or _tip(context.store, source.repository_key, found.merge_request.source_branch) is None:
        return None
    if _has_open_duplicate(context.db, found, found.merge_request.target_branch):
        return None
    context.pending_edits["state_event"] = "reopen"
    return "Reopened this."


@MERGE_REQUEST_COMMANDS.on("target_branch")
def set_target(context: MergeRequestCommandContext, branch: str) -> str | None:
    """Let it be merged into another branch; of one that is being written, that is seen to before git is asked."""
    found = context.found
    if not context.may_edit or found is None or context.store is None or found.merge_request.state != "opened":
        return None
    merge_request = found.merge_request
    own = merge_request.source_project_id == found.project.id and branch == merge_request.source_branch
    if own or branch == merge_request.target_branch or not branch:
        return None
    if _tip(context.store, found.project.repository_key, branch) is None or _has_open_duplicate(
        context.db, found, branch
    ):
        return None
    context.pending_edits["target_branch"] = branch
    return f"Set target branch to {branch}."


@MERGE_REQUEST_COMMANDS.on("wip")
def toggle_draft(context: MergeRequestCommandContext, _: str) -> str | None:
    """Say that it is not to be merged yet, or that it is."""
    title = context.pending_edits.get("title", context.title)
    return _retitle(context, remove_draft_prefix(title) if is_draft(title) else add_draft_prefix(title, "WIP"))


@MERGE_REQUEST_COMMANDS.on("draft")
def mark_draft(context: MergeRequestCommandContext, _: str) -> str | None:
    """Say that it is not to be merged yet."""
    return _retitle(context, add_draft_prefix(context.pending_edits.get("title", context.title), "Draft"))


@MERGE_REQUEST_COMMANDS.on("ready")
def mark_ready(context: MergeRequestCommandContext, _: str) -> str | None:
    """Say that it is to be merged."""
    return _retitle(context, remove_draft_prefix(context.pending_edits.get("title", context.title)))


def _retitle(context: MergeRequestCommandContext, title: str) -> str | None:
    before = context.pending_edits.get("title", context.title)
    if not context.may_edit or title == before or not 0 < len(title) <= MAX_TITLE_LENGTH:
        return None
    context.pending_edits["title"] = title
    return f"Marked this merge request as {'draft' if is_draft(title) else 'ready'}."


@MERGE_REQUEST_COMMANDS.on("merge")
def merge(context: MergeRequestCommandContext, _: str) -> str | None:
    """Merge it: soon, by a job, or when its pipeline has succeeded."""
    found = context.found
    if found is None or context.store is None:
        return None
    head, store = found.merge_request.head_oid, context.store
    if context.seen not in (None, head) or not can_be_merged(context.db, store, context.actor, found):
        return None

    def tell(db: Connection, subject: Subject) -> None:
        if subject.id is not None:
            held = lock_merge_request_row(db, found.merge_request)
            schedule_merge(db, store, context.actor, found._replace(merge_request=held), head)

    context.effects.append(tell)
    return "Scheduled to merge this merge request."


@MERGE_REQUEST_COMMANDS.on("approve")
def approve_merge_request(context: MergeRequestCommandContext, _: str) -> str | None:
    """Approve of it, once."""
    found = context.found
    if found is None or found.merge_request.state != "opened" or not may_approve(context.actor, found.here, found):
        return None
    if context.actor.user_id in approvers_of(context.db, found.merge_request.id):
        return None
    context.effects.append(lambda db, _: _approve(db, context.actor, found))
    return "Approved this merge request."


def _approve(db: Connection, actor: Actor, lookup: MergeRequestLookup) -> None:
    held = lock_merge_request_row(db, lookup.merge_request)
    # What else was commanded may have closed it, or have said the same before, be it at the same time.
    if held.state == "opened" and actor.user_id not in approvers_of(db, held.id):
        approve(db, actor, held)


@MERGE_REQUEST_COMMANDS.on("unapprove")
def unapprove_merge_request(context: MergeRequestCommandContext, _: str) -> str | None:
    """Approve of it no more."""
    found = context.found
    if found is None or not may_approve(context.actor, found.here, found):
        return None
    if context.actor.user_id not in approvers_of(context.db, found.merge_request.id):
        return None
    context.effects.append(lambda db, _: _unapprove(db, context.actor, found))
    return "Unapproved this merge request."


def _unapprove(db: Connection, actor: Actor, lookup: MergeRequestLookup) -> None:
    held = lock_merge_request_row(db, lookup.merge_request)
    if actor.user_id in approvers_of(db, held.id):
        unapprove(db, actor, held)


def _tip(store: RepositoryStore, key: str, branch: str) -> str | None:
    try:
        return branch_tip(store.open(key), branch)
    except MissingRepository:  # Deleted since the row was read.
        return None


def _has_open_duplicate(db: Connection, lookup: MergeRequestLookup, branch: str) -> bool:
    """Whether there is an open one already between its source and a branch."""
    merge_request = lookup.merge_request
    source = merge_request.source_project_id
    if source is None:
        return False
    twin = open_duplicate_or_none(db, source, merge_request.source_branch, merge_request.target_project_id, branch)
    return twin is not None and twin.id != merge_request.id


add_time_tracking(MERGE_REQUEST_COMMANDS, service.TIME_TRACKING, merge_request_by_id)
