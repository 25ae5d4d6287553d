"""Execution of quick actions on merge requests, in the transaction that stores their text."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from ingot.collaboration.merge_requests import policy, service
from ingot.collaboration.merge_requests.editing.service import edit_merge_request
from ingot.collaboration.merge_requests.params import CreateMergeRequest, EditMergeRequest
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.quick_actions.definitions import (
    MERGE_REQUEST_COMMANDS,
    MergeRequestCommandContext,
)
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.quick_actions.command_context import CommandResult
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.markup.quick_actions import Command
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import Project


def execute_commands(
    db: Connection,
    store: RepositoryStore,
    actor: Actor,
    lookup: MergeRequestLookup,
    commands: Sequence[Command],
    seen_head: str | None,
) -> CommandResult:
    """Execute the quick actions of a note; ignore those that its author may not use."""
    context = MergeRequestCommandContext(
        db,
        actor,
        lookup.project,
        service.subject_of(lookup.merge_request),
        may_edit=policy.may_edit_merge_request(actor, lookup.access, lookup),
        may_triage=policy.may_triage(actor, lookup.access, lookup.project),
        assignees=lookup.assignees,
        title=lookup.merge_request.title,
        lookup=lookup,
        store=store,
        seen_head=seen_head.lower() if seen_head else None,
    )
    MERGE_REQUEST_COMMANDS.execute(context, commands)
    if context.pending_edits:
        edit_merge_request(db, actor, lookup, EditMergeRequest(**context.pending_edits), None)
    return context.apply_effects(service.subject_of(merge_request_by_id(db, lookup.merge_request.id)))


def create_merge_request(
    db: Connection,
    actor: Actor,
    target_access: Access,
    source: Project,
    target: Project,
    params: CreateMergeRequest,
    head_oid: str,
    commands: Sequence[Command],
) -> MergeRequest:
    """Create a merge request and execute the quick actions of its description."""
    if not commands:
        return service.create_merge_request(db, actor, target_access, source, target, params, head_oid)
    may_triage = policy.may_triage(actor, target_access, target)
    context = MergeRequestCommandContext(
        db, actor, target, None, may_edit=True, may_triage=may_triage, title=params.title
    )
    MERGE_REQUEST_COMMANDS.execute(context, commands)
    added = context.pending_edits.pop("add_labels", [])
    if added:
        context.pending_edits["labels"] = [*((params.labels if params.labels is not UNSET else None) or []), *added]
    params = msgspec.structs.replace(params, **context.pending_edits)
    created = service.create_merge_request(db, actor, target_access, source, target, params, head_oid)
    context.apply_effects(service.subject_of(created))
    return merge_request_by_id(db, created.id)
