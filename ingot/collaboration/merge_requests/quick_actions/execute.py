"""Obeying commands on merge requests: all that one text commands happens in the transaction that keeps the text."""

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
    seen: str | None,
) -> CommandResult:
    """Do to a merge request what a note commands; what its writer may not do is passed over."""
    desk = MergeRequestCommandContext(
        db,
        actor,
        lookup.project,
        service.subject_of(lookup.merge_request),
        may_edit=policy.may_edit_merge_request(actor, lookup.here, lookup),
        may_triage=policy.may_triage(actor, lookup.here, lookup.project),
        assignees=lookup.assignees,
        title=lookup.merge_request.title,
        found=lookup,
        store=store,
        seen=seen.lower() if seen else None,
    )
    MERGE_REQUEST_COMMANDS.execute(desk, commands)
    if desk.pending_edits:
        edit_merge_request(db, actor, lookup, EditMergeRequest(**desk.pending_edits), None)
    return desk.apply_effects(service.subject_of(merge_request_by_id(db, lookup.merge_request.id)))


def create_merge_request(
    db: Connection,
    actor: Actor,
    there: Access,
    source: Project,
    target: Project,
    params: CreateMergeRequest,
    head_oid: str,
    commands: Sequence[Command],
) -> MergeRequest:
    """Open a merge request, and do what its description commanded."""
    if not commands:
        return service.create_merge_request(db, actor, there, source, target, params, head_oid)
    triages = policy.may_triage(actor, there, target)
    desk = MergeRequestCommandContext(db, actor, target, None, may_edit=True, may_triage=triages, title=params.title)
    MERGE_REQUEST_COMMANDS.execute(desk, commands)
    more = desk.pending_edits.pop("add_labels", [])
    if more:
        desk.pending_edits["labels"] = [*((params.labels if params.labels is not UNSET else None) or []), *more]
    params = msgspec.structs.replace(params, **desk.pending_edits)
    made = service.create_merge_request(db, actor, there, source, target, params, head_oid)
    desk.apply_effects(service.subject_of(made))
    return merge_request_by_id(db, made.id)
