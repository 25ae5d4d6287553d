"""Cached mergeability of merge requests, valid for one pair of source and target commits."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.git.core.errors import MissingRepository
from ingot.git.core.refs import HEADS
from ingot.git.history.commits import ref_target_or_none
from ingot.git.maintenance.store import RepositoryStore

Mergeability = Literal["ahead", "apart", "conflict", "nothing"]
"""``ahead``: the head contains the target; ``apart``: both have new commits that merge without conflict;

``conflict``: they do not; ``nothing``: the source has no new commits, or a branch does not exist.
"""
MERGEABLE: tuple[Mergeability, ...] = ("ahead", "apart")
_BY_COLUMN_VALUE: dict[str | None, Mergeability] = {value: value for value in get_args(Mergeability)}


def cached_mergeability(merge_request: MergeRequest, target_tip: str | None) -> Mergeability | None:
    """Return the cached mergeability, or None if the head of the source or of the target has changed since."""
    if merge_request.verdict_source_oid != merge_request.head_oid or merge_request.verdict_target_oid != target_tip:
        return None
    return _BY_COLUMN_VALUE.get(merge_request.verdict)


def cached_mergeabilities(
    store: RepositoryStore, repository_keys: Mapping[int, str], page: Sequence[MergeRequest]
) -> dict[int, Mergeability | None]:
    """Return the cached mergeability of each merge request of a page.

    Each target branch is read once, and only if a mergeability is stored.
    """
    tips: dict[tuple[int, str], str | None] = {}
    mergeabilities: dict[int, Mergeability | None] = {}
    for merge_request in page:
        if merge_request.state != "opened" or merge_request.verdict is None:
            continue
        branch = merge_request.target_project_id, merge_request.target_branch
        if branch not in tips:
            tips[branch] = _tip(store, repository_keys.get(branch[0]), branch[1])
        mergeabilities[merge_request.id] = cached_mergeability(merge_request, tips[branch])
    return mergeabilities


def _tip(store: RepositoryStore, key: str | None, branch: str) -> str | None:
    try:
        return None if key is None else ref_target_or_none(store.open(key), HEADS + branch.encode(errors="replace"))
    except MissingRepository:  # Deleted since the row was read.
        return None
