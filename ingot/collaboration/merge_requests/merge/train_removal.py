"""Merge requests that a user may remove from their merge trains."""

from collections.abc import Collection

from ingot.collaboration.merge_requests.merge.train_queries import merge_requests_by_ids
from ingot.collaboration.merge_requests.policy import MergeCandidate, MergeRequestLookup, may_cancel_merge
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.projects.projects.queries import find_project
from ingot.repositories.protection.queries import branch_rules


def removable_merge_requests(db: Connection, actor: Actor, merge_request_ids: Collection[int]) -> set[int]:
    """Return those of some merge requests whose scheduled merge the caller may cancel."""
    records = merge_requests_by_ids(db, merge_request_ids)
    removable = set()
    for project_id in {record.target_project_id for record in records}:
        access, project = find_project(db, actor, project_id)
        rules = branch_rules(db, project_id)
        for record in records:
            candidate = MergeCandidate(MergeRequestLookup(access, project, record, ()), rules)
            if record.target_project_id == project_id and may_cancel_merge(actor, access, candidate):
                removable.add(record.id)
    return removable
