"""Merging a merge request of a stack together with all merge requests below it."""

from functools import partial
from typing import NamedTuple

import msgspec

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.approval_rules.state import lacks_approvals
from ingot.collaboration.merge_requests.merge import perform
from ingot.collaboration.merge_requests.merge.context import (
    MergeBlocked,
    MergeContext,
    fetch_head,
    load_merge_context,
    require_ready,
)
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions
from ingot.collaboration.merge_requests.merge.stack_service import enqueue_restack, mark_restack, retarget
from ingot.collaboration.merge_requests.merge.train_queries import car_or_none, merge_requests_by_ids
from ingot.collaboration.merge_requests.mergeability_check import has_source_branch
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.stacks.lower_layers import restack_or_none
from ingot.collaboration.merge_requests.stacks.tree import stack_positions
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Failure
from ingot.git.history.ancestry import is_ancestor
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_trees import can_merge
from ingot.repositories.protection.queries import branch_rules

_CLEANUP_SECONDS = 60.0


class StackBlocked(Exception):
    """A layer cannot be merged; nothing is merged if that was known before."""

    def __init__(self, layer: MergeRequest, error: Failure) -> None:
        super().__init__(str(error))
        self.layer = layer
        self.error = error


class StackMerge(NamedTuple):
    """A merge of the lower part of a stack."""

    database: Database
    store: RepositoryStore
    actor: Actor
    layers: tuple[MergeContext, ...]
    """What the merge of each layer is based on, the bottom first."""

    @property
    def branch(self) -> str:
        """Return the branch into which all are merged."""
        return self.layers[0].merge_request.target_branch


def layers_up_to(db: Connection, merge_request: MergeRequest) -> tuple[MergeRequest, ...]:
    """Return a merge request and those below it, the bottom first."""
    place = stack_positions(db, [merge_request]).get(merge_request.id)
    found = merge_requests_by_ids(db, place.layers) if place is not None else []
    by_branch = {each.source_branch: each for each in reversed(found) if _carries(each)}
    layers = [merge_request]
    while place is not None and layers[-1].id != place.bottom_id:
        layers.append(by_branch[layers[-1].target_branch])
    return tuple(reversed(layers))


def _carries(layer: MergeRequest) -> bool:
    return layer.source_project_id == layer.target_project_id


def merge_stack(
    database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest, sha: str | None
) -> None:
    """Merge from the bottom up to ``merge_request``, or add them to the merge train in this order.

    All checks happen before the first merge, and those of each layer again at its merge. Raises ``StackBlocked``;
    layers that were merged before a check failed remain merged. Raises ``Conflict`` if the head of the merge request is
    not ``sha``.
    """
    if sha is not None and sha.lower() != merge_request.head_oid:
        raise Conflict(f"SHA does not match HEAD of source branch: {merge_request.head_oid}")
    found = database.read(partial(layers_up_to, merge_request=merge_request))
    contexts = tuple(load_merge_context(database, store, actor, layer.id) for layer in found)
    run = StackMerge(database, store, actor, contexts)
    for number, context in enumerate(run.layers):
        try:
            _check_rules(run, context)
            _check_commits(run, number, context)
        except Failure as error:
            raise StackBlocked(context.merge_request, error) from None
    database.write(partial(_claim, run=run))
    try:
        for number, context in enumerate(run.layers):
            _merge_layer(run, number, context.merge_request)
    finally:
        database.write(partial(_release, run=run))


def _check_rules(run: StackMerge, context: MergeContext) -> None:
    """Check the rules for the merge of a layer into the final target, and the permission of the user."""
    merge_request = msgspec.structs.replace(context.merge_request, target_branch=run.branch)

    def is_unapproved(db: Connection) -> bool:
        lookup = policy.MergeRequestLookup(context.access, context.project, merge_request, ())
        candidate = policy.MergeCandidate(lookup, branch_rules(db, context.project.id))
        require(policy.may_merge(run.actor, context.access, candidate))
        return lacks_approvals(db, merge_request, context.project.options)

    unapproved = run.database.read(is_unapproved)
    require_ready(context._replace(unapproved=unapproved), MergeOptions(), later=False)


def _check_commits(run: StackMerge, number: int, context: MergeContext) -> None:
    """Raise ``MergeBlocked`` if a layer has no own commits, does not contain the one below, or conflicts."""
    repository, head, tip = context.repository, context.merge_request.head_oid, run.layers[0].tip
    fetch_head(context)
    if NO_OID in (tip, context.tip) or not has_source_branch(context.source, context.merge_request):
        raise MergeBlocked("commits_status")
    if is_ancestor(repository, head, context.tip):
        raise MergeBlocked("commits_status")
    linear = context.project.merge_method != "merge" and not context.project.options.has_merge_trains
    below = run.layers[number - 1].merge_request.head_oid if number else tip if linear else None
    if below is not None and not is_ancestor(repository, below, head):
        raise MergeBlocked("need_rebase")
    if not can_merge(repository, tip, head):
        raise MergeBlocked("conflict")


def _claim(db: Connection, run: StackMerge) -> None:
    """Keep jobs from rebasing the upper layers meanwhile; a job takes the marks away if this process is killed."""
    for lower, upper in zip(run.layers, run.layers[1:], strict=False):
        mark_restack(db, upper.merge_request.id, lower.merge_request.id, run.actor.user_id, "train")
        enqueue_restack(db, upper.merge_request.id, _CLEANUP_SECONDS)


def _release(db: Connection, run: StackMerge) -> None:
    """Let jobs look at the layers that were neither merged nor added to a train."""
    for upper in run.layers[1:]:
        number = upper.merge_request.id
        if restack_or_none(db, number) is not None and car_or_none(db, number) is None:
            enqueue_restack(db, number)


def _merge_layer(run: StackMerge, number: int, layer: MergeRequest) -> None:
    """Merge a layer or add it to the train, after the one below; raise ``StackBlocked``."""
    options = MergeOptions(sha=layer.head_oid)

    def retarget_layer(db: Connection) -> MergeRequest:
        retarget(db, run.actor.user_id, merge_request_by_id(db, layer.id), run.branch)
        return merge_request_by_id(db, layer.id)

    try:
        current = run.database.write(retarget_layer) if number else layer
        if run.layers[0].project.options.has_merge_trains:
            perform.add_to_train(run.database, run.store, run.actor, current, options, later=False)
        else:
            perform.merge(run.database, run.store, run.actor, current, options, stacked=number > 0)
    except Failure as error:
        raise StackBlocked(layer, error) from None
