"""Finding out whether a merge request can be merged, once for each pair of commits."""

from functools import partial

from sqlalchemy import bindparam, update

from ingot.collaboration.merge_requests.mergeability import Mergeability, cached_mergeability
from ingot.collaboration.merge_requests.tables import MergeRequest, merge_requests
from ingot.core.db.connection import Connection
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_trees import can_merge
from ingot.log import log_failure
from ingot.projects.projects.queries import project_or_none

# Whoever looked while the source moved on has found out something about the past.
_STORE_MERGEABILITY = (
    update(merge_requests)
    .where(merge_requests.c.id == bindparam("merge_request"), merge_requests.c.head_oid == bindparam("head"))
    .values(verdict=bindparam("found"), verdict_source_oid=bindparam("head"), verdict_target_oid=bindparam("tip"))
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
    """Whether an open merge request can be merged now; nothing of one that is not open.

    There is no verdict either where git cannot tell, as when the repository is damaged.
    """
    if merge_request.state != "opened":
        return None
    return check_mergeability_at(db, repository, merge_request, branch_tip(repository, merge_request.target_branch))


def check_mergeability_at(
    db: Connection, repository: Repository, merge_request: MergeRequest, tip: str | None
) -> Mergeability | None:
    """The same upon a tip of the target: what is known of these two commits, else git is asked, once."""
    if tip is None:
        return "nothing"
    known = cached_mergeability(merge_request, tip)
    if known is not None:
        return known
    try:
        found = compute_mergeability(repository, tip, merge_request.head_oid)
    except GitError as error:
        log_failure("mergeability not determined", error, merge_request=merge_request.id)
        return None
    db.deferred_writes.append(partial(store_mergeability, merge_request=merge_request, tip=tip, found=found))
    return found


def compute_mergeability(repository: Repository, tip: str, head: str) -> Mergeability:
    """Whether a head brings something that the tip lacks, and goes together with it."""
    parted = merge_base_or_none(repository, [tip, head])
    if parted == head:
        return "nothing"
    if parted == tip:
        return "ahead"
    return "apart" if can_merge(repository, tip, head) else "conflict"


def store_mergeability(db: Connection, merge_request: MergeRequest, tip: str, found: Mergeability) -> None:
    """Write down what was found out, so that lists show it and nobody asks git again; it changes nothing else."""
    db.run(_STORE_MERGEABILITY, merge_request=merge_request.id, head=merge_request.head_oid, tip=tip, found=found)
