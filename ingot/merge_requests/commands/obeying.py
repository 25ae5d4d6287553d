"""Obeying commands on merge requests: all that one text commands happens in the transaction that keeps the text."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.commands.desk import Obeyed
from ingot.db.connection import Connection
from ingot.git.store import Store
from ingot.markup.commands import Command
from ingot.merge_requests import policy, service
from ingot.merge_requests.commands.known import MERGE_REQUESTS, MergeRequestDesk
from ingot.merge_requests.params import CreateMergeRequest, EditMergeRequest
from ingot.merge_requests.policy import Found
from ingot.merge_requests.queries import merge_request_by_id
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.upkeep.service import edit_merge_request
from ingot.projects.tables import Project


def obey_commands(
    db: Connection, store: Store, actor: Actor, found: Found, commands: Sequence[Command], seen: str | None
) -> Obeyed:
    """Do to a merge request what a note commands; what its writer may not do is passed over."""
    desk = MergeRequestDesk(
        db,
        actor,
        found.project,
        service.subject_of(found.merge_request),
        edits=policy.may_edit_merge_request(actor, found.here, found),
        triages=policy.may_triage(actor, found.here, found.project),
        assignees=found.assignees,
        title=found.merge_request.title,
        found=found,
        store=store,
        seen=seen.lower() if seen else None,
    )
    MERGE_REQUESTS.obey(desk, commands)
    if desk.wishes:
        edit_merge_request(db, actor, found, EditMergeRequest(**desk.wishes), None)
    return desk.act(service.subject_of(merge_request_by_id(db, found.merge_request.id)))


def create_merge_request(
    db: Connection,
    actor: Actor,
    there: Access,
    source: Project,
    target: Project,
    wanted: CreateMergeRequest,
    head_oid: str,
    commands: Sequence[Command],
) -> MergeRequest:
    """Open a merge request, and do what its description commanded."""
    if not commands:
        return service.create_merge_request(db, actor, there, source, target, wanted, head_oid)
    triages = policy.may_triage(actor, there, target)
    desk = MergeRequestDesk(db, actor, target, None, edits=True, triages=triages, title=wanted.title)
    MERGE_REQUESTS.obey(desk, commands)
    more = desk.wishes.pop("add_labels", [])
    if more:
        desk.wishes["labels"] = [*((wanted.labels if wanted.labels is not UNSET else None) or []), *more]
    wanted = msgspec.structs.replace(wanted, **desk.wishes)
    made = service.create_merge_request(db, actor, there, source, target, wanted, head_oid)
    desk.act(service.subject_of(made))
    return merge_request_by_id(db, made.id)
