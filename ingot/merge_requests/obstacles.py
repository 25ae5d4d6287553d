"""What has to be so before anybody can merge, in the words that clients know."""

from typing import Literal, Protocol

from ingot.merge_requests.drafts import is_draft
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.verdicts import Verdict
from ingot.repository.pipelines.tables import Status

UNDER_WAY: tuple[Status, ...] = ("created", "pending", "running")
_SATISFIES: tuple[Status, ...] = ("success", "skipped")
Obstacle = Literal[
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


class Demands(Protocol):
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


def obstacle_ahead(
    project: Demands, merge_request: MergeRequest, pipeline: Status | None, *, undecided: bool, later: bool = False
) -> Obstacle | None:
    """What stands in the way before git is asked; a merge for later does not mind a pipeline that is under way."""
    if merge_request.state != "opened":
        return "not_open"
    if is_draft(merge_request.title):
        return "draft_status"
    if project.only_allow_merge_if_pipeline_succeeds and pipeline is not None and pipeline not in _SATISFIES:
        if pipeline not in UNDER_WAY:
            return "ci_must_pass"
        if not later:
            return "ci_still_running"
    if project.only_allow_merge_if_all_discussions_are_resolved and undecided:
        return "discussions_not_resolved"
    return None


def obstacle_found(project: Demands, verdict: Verdict) -> Obstacle | None:
    """What stands in the way by what git has found out."""
    if verdict == "nothing":
        return "commits_status"
    if verdict == "conflict":
        return "conflict"
    return "need_rebase" if verdict == "apart" and project.merge_method != "merge" else None
