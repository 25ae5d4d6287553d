"""Computation of the mergeability of merge requests, once for each pair of commits."""

from functools import partial

from sqlalchemy import bindparam, update

from ingot.collaboration.merge_requests.mergeability import Mergeability, cached_mergeability
from ingot.collaboration.merge_requests.tables import MergeRequest, merge_requests
from ingot.core.db.connection import Connection
from ingot.core.log import log_failure
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_trees import can_merge
from ingot.projects.projects.queries import project_or_none

# The condition on the head discards a result for a head that has been replaced meanwhile.
_STORE_MERGEABILITY = (
    update(merge_requests)
    .where(merge_requests.c.id == bindparam("merge_request"), merge_requests.c.head_oid == bindparam("head"))
    .values(
        verdict=bindparam("mergeability"), verdict_source_oid=bindparam("head"), verdict_target_oid=bindparam("tip")
    )
)


def source_repository(
    db: Connection, store: RepositoryStore, repository: Repository, merge_request: MergeRequest
) -> Repository | None:
    """Return the repository of the source branch, or None if it was deleted; ``repository`` is the target's."""
    if merge_request.source_project_id == merge_request.target_project_id:
        return repository
    source = project_or_none(db, merge_request.source_project_id or 0)
    try:
        return None if source is None else store.open(source.repository_key)
    except MissingRepository:  # Deleted since the row was read.
        return None


def has_source(db: Connection, store: RepositoryStore, repository: Repository, merge_request: MergeRequest) -> bool:
    """Return whether the source branch still exists; ``repository`` is the target's."""
    return has_source_branch(source_repository(db, store, repository, merge_request), merge_request)


def has_source_branch(source: Repository | None, merge_request: MergeRequest) -> bool:
    """Return whether the source branch exists in its repository, if that exists."""
    return source is not None and branch_tip(source, merge_request.source_branch) is not None


def check_mergeability(db: Connection, repository: Repository, merge_request: MergeRequest) -> Mergeability | None:
    """Return the mergeability of an open merge request, or None if it is not open.

    Also returns None if git fails, for example in a damaged repository.
    """
    if merge_request.state != "opened":
        return None
    return check_mergeability_at(db, repository, merge_request, branch_tip(repository, merge_request.target_branch))


def check_mergeability_at(
    db: Connection, repository: Repository, merge_request: MergeRequest, tip: str | None
) -> Mergeability | None:
    """Return the mergeability for a tip of the target: the cached one, else git computes it once."""
    if tip is None:
        return "nothing"
    cached = cached_mergeability(merge_request, tip)
    if cached is not None:
        return cached
    try:
        computed = compute_mergeability(repository, tip, merge_request.head_oid)
    except (GitError, OSError) as error:  # An OSError where the disk has no space for temporary objects.
        log_failure("mergeability not determined", error, merge_request=merge_request.id)
        return None
    db.after_read(partial(store_mergeability, merge_request=merge_request, tip=tip, mergeability=computed))
    return computed


def compute_mergeability(repository: Repository, tip: str, head: str) -> Mergeability:
    """Return whether a head has commits that the tip lacks, and merges with it without conflict."""
    merge_base = merge_base_or_none(repository, [tip, head])
    if merge_base == head:
        return "nothing"
    if merge_base == tip:
        return "ahead"
    return "apart" if can_merge(repository, tip, head) else "conflict"


def store_mergeability(db: Connection, merge_request: MergeRequest, tip: str, mergeability: Mergeability) -> None:
    """Store the mergeability, so that lists show it without git; no other column changes."""
    db.run(
        _STORE_MERGEABILITY,
        merge_request=merge_request.id,
        head=merge_request.head_oid,
        tip=tip,
        mergeability=mergeability,
    )
