"""Merging because a note says so: soon, by the job that merges what waits for its pipeline, and in the same way."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.git.commits import branch_tip
from ingot.git.faults import MissingRepository
from ingot.git.store import Store
from ingot.jobs.queue import enqueue
from ingot.merge_requests.merging.policy import Candidate, may_merge
from ingot.merge_requests.merging.queries import head_pipeline
from ingot.merge_requests.merging.service import merge_later
from ingot.merge_requests.merging.wishes import MERGE_WHEN_READY, Wish
from ingot.merge_requests.obstacles import UNDER_WAY, obstacle_ahead
from ingot.merge_requests.policy import Found
from ingot.merge_requests.queries import undecided
from ingot.merge_requests.verdicts import MERGEABLE, kept_verdict
from ingot.repository.pipelines.tables import Status
from ingot.repository.protection.queries import branch_rules


def may_be_merged(db: Connection, store: Store, actor: Actor, found: Found) -> bool:
    """Whether somebody may merge it and nothing is known to stand in the way; git is not asked to try.

    Where its pipeline has ended otherwise than well, nobody merges it by a word.
    """
    project, merge_request = found.project, found.merge_request
    if not may_merge(actor, found.here, Candidate(found, branch_rules(db, project.id))):
        return False
    pipeline = _pipeline(db, found)
    if pipeline not in (None, "success", *UNDER_WAY):
        return False
    still_open = bool(undecided(db, [merge_request.id]))
    if obstacle_ahead(project, merge_request, pipeline, undecided=still_open, later=True) is not None:
        return False
    try:
        tip = branch_tip(store.open(project.repository_key), merge_request.target_branch)
    except MissingRepository:
        return False
    return tip is not None and kept_verdict(merge_request, tip) in (None, *MERGEABLE)


def merge_as_told(db: Connection, store: Store, actor: Actor, found: Found, head: str) -> None:
    """Let what is held be merged at the head that was commanded about, unless another command has forbidden it."""
    if found.merge_request.head_oid != head or not may_be_merged(db, store, actor, found):
        return
    waiting = merge_later(db, actor, found.merge_request, Wish(sha=head))
    if _pipeline(db, found) not in UNDER_WAY:
        enqueue(db, MERGE_WHEN_READY, waiting.id, unique_key=f"{MERGE_WHEN_READY} {waiting.id}")


def _pipeline(db: Connection, found: Found) -> Status | None:
    pipeline = head_pipeline(db, found.merge_request)
    return pipeline.status if pipeline else None
