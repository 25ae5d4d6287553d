"""What has to be so before anybody can merge, in the words that clients know."""

from typing import Literal, Protocol

from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.mergeability import Mergeability
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.repositories.pipelines.tables import Status

ACTIVE_STATUSES: tuple[Status, ...] = ("created", "pending", "running")
_PASSING_STATUSES: tuple[Status, ...] = ("success", "skipped")
MergeObstacle = Literal[
    "not_open",
    "draft_status",
    "ci_must_pass",
    "ci_still_running",
    "discussions_not_resolved",
    "commits_status",
    "conflict",
    "need_rebase",
]
"""Why something is not merged."""


class MergeRequirements(Protocol):
    """What a project wants to be so before it takes anything."""

    @property
    def only_allow_merge_if_pipeline_succeeds(self) -> bool:
        """Whether a pipeline, where there is one, has to succeed."""

    @property
    def only_allow_merge_if_all_discussions_are_resolved(self) -> bool:
        """Whether nothing may be left to talk about."""

    @property
    def merge_method(self) -> str:
        """How it is merged; only with merge commits may the target have moved on."""


def obstacle_before_git(
    project: MergeRequirements,
    merge_request: MergeRequest,
    pipeline: Status | None,
    *,
    undecided: bool,
    later: bool = False,
) -> MergeObstacle | None:
    """What stands in the way before git is asked; a merge for later does not mind a pipeline that is under way."""
    if merge_request.state != "opened":
        return "not_open"
    if is_draft(merge_request.title):
        return "draft_status"
    if project.only_allow_merge_if_pipeline_succeeds and pipeline is not None and pipeline not in _PASSING_STATUSES:
        if pipeline not in ACTIVE_STATUSES:
            return "ci_must_pass"
        if not later:
            return "ci_still_running"
    if project.only_allow_merge_if_all_discussions_are_resolved and undecided:
        return "discussions_not_resolved"
    return None


def obstacle_from_mergeability(project: MergeRequirements, mergeability: Mergeability) -> MergeObstacle | None:
    """What stands in the way by what git has found out."""
    if mergeability == "nothing":
        return "commits_status"
    if mergeability == "conflict":
        return "conflict"
    return "need_rebase" if mergeability == "apart" and project.merge_method != "merge" else None
