"""Subscribers that keep stacks together when one of their merge requests is merged, pushed or leaves its train."""

from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.merge.queries import open_merge_requests_into
from ingot.collaboration.merge_requests.merge.stack_service import (
    automatic_state,
    enqueue_restack,
    forget_restack,
    is_lasting_branch,
    mark_restack,
    retarget,
    retarget_layers_above,
)
from ingot.collaboration.merge_requests.merge.train_service import expel_from_train
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.stacks.lower_layers import restack_or_none, restacks_above
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project

subscriptions = Subscriptions()


@subscriptions.on(MergeRequestChanged)
def move_layers_above(db: Connection, event: MergeRequestChanged) -> None:
    """Give the merge requests stacked on a merged one its target, unless its source branch is to stay."""
    if event.action != "merged":
        return
    merged = merge_request_by_id(db, event.merge_request_id)
    forget_restack(db, merged.id)
    if merged.source_project_id != merged.target_project_id or not open_merge_requests_into(
        db, merged.target_project_id, merged.source_branch
    ):
        return
    project = project_or_none(db, merged.target_project_id)
    if project is None or is_lasting_branch(db, project, merged.source_branch):
        return
    for layer in retarget_layers_above(db, event.actor_id, merged):
        _mark(db, layer, merged, event.actor_id, project)


def _mark(db: Connection, layer: MergeRequest, lower: MergeRequest, actor_id: int, project: Project) -> None:
    """Record that a layer may contain rewritten commits, unless it is being merged together with the lower one."""
    found = restack_or_none(db, layer.id)
    if found is None or found.state != "train" or found.lower_id != lower.id:
        mark_restack(db, layer.id, lower.id, actor_id, automatic_state(project))


@subscriptions.on(MergeRequestChanged)
def follow_changes(db: Connection, event: MergeRequestChanged) -> None:
    """Look at the commits again after a push, and stop when a merge request is closed or its target is changed."""
    if event.action in ("closed", "deleted"):
        forget_restack(db, event.merge_request_id)
    elif event.action == "updated" and "head_oid" in event.changes:
        _follow_push(db, event)
    elif event.action == "updated" and "target_branch" in event.changes:
        found = restack_or_none(db, event.merge_request_id)
        if found is not None and found.state != "train":
            forget_restack(db, event.merge_request_id)


def _follow_push(db: Connection, event: MergeRequestChanged) -> None:
    """Finish a rebase by the server and continue with the layers above, or look at the commits that a user pushed."""
    found = restack_or_none(db, event.merge_request_id)
    if found is None:
        return
    merge_request = merge_request_by_id(db, event.merge_request_id)
    if found.rebased_oid is None or found.rebased_oid != merge_request.head_oid:
        enqueue_restack(db, merge_request.id)
        return
    forget_restack(db, merge_request.id)
    if merge_request.source_project_id == merge_request.target_project_id:
        for layer in open_merge_requests_into(db, merge_request.target_project_id, merge_request.source_branch):
            if layer.id != merge_request.id:
                mark_restack(db, layer.id, merge_request.id, found.actor_id, "waiting")


@subscriptions.on(MergeRequestChanged)
def follow_train(db: Connection, event: MergeRequestChanged) -> None:
    """Take the layers above off the train with a merge request that leaves it unmerged: they contain its commits."""
    unscheduled = event.changes.get("merge_when_pipeline_succeeds") == (True, False)
    if not (unscheduled or event.action in ("closed", "deleted") or "target_branch" in event.changes):
        return
    lower = merge_request_by_id(db, event.merge_request_id)
    own = restack_or_none(db, lower.id)
    if unscheduled and own is not None and own.state == "train":
        enqueue_restack(db, lower.id)
    if lower.state == "merged":
        return
    for restack in restacks_above(db, lower.id):
        layer = merge_request_by_id(db, restack.merge_request_id)
        if restack.state == "train" and layer.target_branch != lower.source_branch:
            expel_from_train(db, layer, f"The merge request !{lower.iid} below it has left the train.")
            forget_restack(db, layer.id)
            retarget(db, event.actor_id, layer, lower.source_branch)
