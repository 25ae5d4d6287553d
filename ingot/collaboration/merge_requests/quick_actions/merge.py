"""The quick action ``/merge``, which uses the job of scheduled merges."""

from ingot.collaboration.merge_requests.approval_rules.state import lacks_approvals
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions
from ingot.collaboration.merge_requests.merge.service import enqueue_auto_merge, schedule_auto_merge
from ingot.collaboration.merge_requests.merge_checks import ACTIVE_STATUSES, obstacle_before_git
from ingot.collaboration.merge_requests.mergeability import MERGEABLE, cached_mergeability
from ingot.collaboration.merge_requests.pipelines import head_pipeline
from ingot.collaboration.merge_requests.policy import MergeCandidate, MergeRequestLookup, may_merge
from ingot.collaboration.merge_requests.queries import merge_requirements, with_unresolved_discussions
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.git.core.errors import MissingRepository
from ingot.git.history.commits import branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.pipelines.tables import Status
from ingot.repositories.protection.queries import branch_rules


def can_be_merged(db: Connection, store: RepositoryStore, actor: Actor, lookup: MergeRequestLookup) -> bool:
    """Return whether the actor may merge, and no obstacle is known; git does not try the merge.

    A pipeline that has ended without success is an obstacle, even if the project does not require success.
    """
    project, merge_request = lookup.project, lookup.merge_request
    if not may_merge(actor, lookup.access, MergeCandidate(lookup, branch_rules(db, project.id))):
        return False
    pipeline = _pipeline(db, lookup)
    if pipeline not in (None, "success", *ACTIVE_STATUSES):
        return False
    unresolved = bool(with_unresolved_discussions(db, [merge_request.id]))
    unapproved = lacks_approvals(db, merge_request, project.options)
    obstacle = obstacle_before_git(
        merge_requirements(db, project),
        merge_request,
        pipeline,
        unresolved=unresolved,
        unapproved=unapproved,
        later=True,
    )
    if obstacle is not None:
        return False
    try:
        tip = branch_tip(store.open(project.repository_key), merge_request.target_branch)
    except MissingRepository:  # Deleted since the row was read.
        return False
    return tip is not None and cached_mergeability(merge_request, tip) in (None, *MERGEABLE)


def schedule_merge(db: Connection, store: RepositoryStore, actor: Actor, lookup: MergeRequestLookup, head: str) -> None:
    """Schedule a merge of the locked row at the given head, unless another quick action prevents it."""
    if lookup.merge_request.head_oid != head or not can_be_merged(db, store, actor, lookup):
        return
    scheduled = schedule_auto_merge(db, actor, lookup.merge_request, MergeOptions(sha=head))
    if _pipeline(db, lookup) not in ACTIVE_STATUSES:
        enqueue_auto_merge(db, scheduled.id)


def _pipeline(db: Connection, lookup: MergeRequestLookup) -> Status | None:
    pipeline = head_pipeline(db, lookup.merge_request)
    return pipeline.status if pipeline else None
