"""Whether merge requests can be merged, as far as it was found out for the commits that are there now."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.git.core.errors import MissingRepository
from ingot.git.core.refs import HEADS
from ingot.git.history.commits import ref_target_or_none
from ingot.git.maintenance.store import RepositoryStore

Mergeability = Literal["ahead", "apart", "conflict", "nothing"]
"""That the head stands upon the target; that the target has moved on, but both go together; that they do not; or that
there is nothing to merge, or a branch is gone."""
MERGEABLE: tuple[Mergeability, ...] = ("ahead", "apart")
_BY_COLUMN_VALUE: dict[str | None, Mergeability] = {each: each for each in get_args(Mergeability)}


def cached_mergeability(merge_request: MergeRequest, target_tip: str | None) -> Mergeability | None:
    """What is known, if that is of the very commits at the head of the source and of the target."""
    if merge_request.verdict_source_oid != merge_request.head_oid or merge_request.verdict_target_oid != target_tip:
        return None
    return _BY_COLUMN_VALUE.get(merge_request.verdict)


def cached_mergeabilities(
    store: RepositoryStore, repository_keys: Mapping[int, str], found: Sequence[MergeRequest]
) -> dict[int, Mergeability | None]:
    """The same for a page; a target branch is looked at once, and only where something may be known of it."""
    tips: dict[tuple[int, str], str | None] = {}
    verdicts: dict[int, Mergeability | None] = {}
    for merge_request in found:
        if merge_request.state != "opened" or merge_request.verdict is None:
            continue
        branch = merge_request.target_project_id, merge_request.target_branch
        if branch not in tips:
            tips[branch] = _tip(store, repository_keys.get(branch[0]), branch[1])
        verdicts[merge_request.id] = cached_mergeability(merge_request, tips[branch])
    return verdicts


def _tip(store: RepositoryStore, key: str | None, branch: str) -> str | None:
    try:
        return None if key is None else ref_target_or_none(store.open(key), HEADS + branch.encode(errors="replace"))
    except MissingRepository:  # Deleted since the row was read.
        return None
