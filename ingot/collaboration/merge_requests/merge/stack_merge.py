"""Merging a merge request of a stack together with all merge requests below it."""

from collections.abc import Sequence
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
from ingot.collaboration.merge_requests.merge.stack_service import (
    enqueue_restack,
    is_lasting_branch,
    mark_restack,
    retarget,
)
from ingot.collaboration.merge_requests.merge.train_queries import car_or_none, merge_requests_by_ids
from ingot.collaboration.merge_requests.merge_checks import scheduled_strategy
from ingot.collaboration.merge_requests.mergeability_check import has_source_branch
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.stacks.lower_layers import restack_or_none, state_of_layer_below
from ingot.collaboration.merge_requests.stacks.tree import MAX_LAYERS, stack_positions
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
from ingot.projects.projects.queries import project_or_none
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
    if place is None:
        return (merge_request,)
    found = {each.id: each for each in merge_requests_by_ids(db, place.below)}
    return tuple(found[number] for number in place.below)


def _missing_layers(db: Connection, bottom: MergeRequest) -> str | None:
    """Return why the merges would not reach the base of the stack, or None."""
    project = project_or_none(db, bottom.target_project_id)
    if project is None or is_lasting_branch(db, project, bottom.target_branch):
        return None
    below = state_of_layer_below(db, bottom)
    if below == "opened" and bottom.id not in stack_positions(db, [bottom]):
        return f"A stack may have {MAX_LAYERS} layers. Merge those at the bottom first."
    return "The merge request below it is closed. Choose another target branch." if below == "closed" else None


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
    while True:
        found = database.read(partial(layers_up_to, merge_request=merge_request))
        try:
            _merge_layers(database, store, actor, found)
        except StackBlocked:
            # Another merge may have been faster: what it has left is looked at again.
            current = database.read(partial(merge_requests_by_ids, merge_request_ids=[each.id for each in found]))
            if not any(each.state == "merged" for each in current):
                raise
            merge_request = next(each for each in current if each.id == merge_request.id)
            if merge_request.state != "merged":
                continue
        return


def _merge_layers(database: Database, store: RepositoryStore, actor: Actor, found: Sequence[MergeRequest]) -> None:
    """Check all layers and merge them."""
    reason = database.read(partial(_missing_layers, bottom=found[0]))
    if reason is not None:
        raise StackBlocked(found[0], Conflict(reason))
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

    if scheduled_strategy(run.layers[number].merge_request) == "merge_train":
        return
    try:
        current = run.database.write(retarget_layer) if number else layer
        if run.layers[0].project.options.has_merge_trains:
            perform.add_to_train(run.database, run.store, run.actor, current, options, later=False)
        else:
            perform.merge(run.database, run.store, run.actor, current, options, stacked=number > 0)
    except Failure as error:
        raise StackBlocked(layer, error) from None
