"""Finding out whether a merge request can be merged, once for each pair of commits."""

from functools import partial

from sqlalchemy import bindparam, update

from ingot.db.connection import Connection
from ingot.git.bases import merge_base
from ingot.git.commits import branch_tip
from ingot.git.faults import GitFailed, MissingRepository
from ingot.git.merge_trees import merges_cleanly
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.merge_requests.tables import MergeRequest, merge_requests
from ingot.merge_requests.verdicts import Verdict, kept_verdict
from ingot.projects.queries import project_or_none

# Whoever looked while the source moved on has found out something about the past.
_KEEP = (
    update(merge_requests)
    .where(merge_requests.c.id == bindparam("merge_request"), merge_requests.c.head_oid == bindparam("head"))
    .values(verdict=bindparam("found"), verdict_source_oid=bindparam("head"), verdict_target_oid=bindparam("tip"))
)


def has_source(db: Connection, store: Store, repository: Repository, merge_request: MergeRequest) -> bool:
    """Whether the branch that it comes from is still there; ``repository`` is the target's."""
    try:
        if merge_request.source_project_id != merge_request.target_project_id:
            source = project_or_none(db, merge_request.source_project_id or 0)
            if source is None:
                return False
            repository = store.open(source.repository_key)
        return branch_tip(repository, merge_request.source_branch) is not None
    except MissingRepository:
        return False


def judge(db: Connection, repository: Repository, merge_request: MergeRequest) -> Verdict | None:
    """Whether an open merge request can be merged now; nothing of one that is not open.

    There is no verdict either where git cannot tell, as when the repository is damaged.
    """
    if merge_request.state != "opened":
        return None
    return judge_upon(db, repository, merge_request, branch_tip(repository, merge_request.target_branch))


def judge_upon(db: Connection, repository: Repository, merge_request: MergeRequest, tip: str | None) -> Verdict | None:
    """The same upon a tip of the target: what is known of these two commits, else git is asked, once."""
    if tip is None:
        return "nothing"
    known = kept_verdict(merge_request, tip)
    if known is not None:
        return known
    try:
        found = look(repository, tip, merge_request.head_oid)
    except GitFailed:
        return None
    db.findings.append(partial(keep_verdict, merge_request=merge_request, tip=tip, found=found))
    return found


def look(repository: Repository, tip: str, head: str) -> Verdict:
    """Whether a head brings something that the tip lacks, and goes together with it."""
    parted = merge_base(repository, [tip, head])
    if parted == head:
        return "nothing"
    if parted == tip:
        return "ahead"
    return "apart" if merges_cleanly(repository, tip, head) else "conflict"


def keep_verdict(db: Connection, merge_request: MergeRequest, tip: str, found: Verdict) -> None:
    """Write down what was found out, so that lists show it and nobody asks git again; it changes nothing else."""
    db.run(_KEEP, merge_request=merge_request.id, head=merge_request.head_oid, tip=tip, found=found)
