"""Conditions that must hold before a merge, with GitLab's names for the statuses."""

from typing import Literal, Protocol

import msgspec

from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.mergeability import Mergeability
from ingot.collaboration.merge_requests.tables import MergeRequest, Strategy
from ingot.pipelines.tables import Status
from ingot.repositories.push_rules.patterns import matches

ACTIVE_STATUSES: tuple[Status, ...] = ("created", "pending", "running")
MergeObstacle = Literal[
    "not_open",
    "draft_status",
    "title_regex",
    "ci_must_pass",
    "ci_still_running",
    "discussions_not_resolved",
    "not_approved",
    "requested_changes",
    "commits_status",
    "conflict",
    "need_rebase",
    "merge_request_blocked",
]
"""Reason why a merge request cannot be merged; a value of ``detailed_merge_status``."""


AWAITED: frozenset[MergeObstacle] = frozenset(
    {"draft_status", "title_regex", "discussions_not_resolved", "not_approved", "requested_changes"}
)
"""Obstacles besides the pipeline that users remove, for which an automatic merge waits."""


class _ScheduledMerge(msgspec.Struct):
    """The strategy of a scheduled merge, of its stored options."""

    strategy: Strategy = "merge_when_checks_pass"


class MergeRequirements(Protocol):
    """Settings of a project that restrict merging."""

    @property
    def only_allow_merge_if_pipeline_succeeds(self) -> bool:
        """Whether the pipeline of the head must succeed, if there is one."""

    @property
    def only_allow_merge_if_all_discussions_are_resolved(self) -> bool:
        """Whether all discussions must be resolved."""

    @property
    def merge_method(self) -> str:
        """The merge method; all methods but ``merge`` require that the source contains the target."""

    @property
    def merge_request_title_regex(self) -> str | None:
        """Expression that the title must match."""

    @property
    def allow_merge_on_skipped_pipeline(self) -> bool:
        """Whether a skipped pipeline counts as successful."""


def obstacle_before_git(
    project: MergeRequirements,
    merge_request: MergeRequest,
    pipeline: Status | None,
    *,
    unresolved: bool,
    unapproved: bool,
    later: bool = False,
) -> MergeObstacle | None:
    """Return the first obstacle that needs no git operation, or None.

    A scheduled merge (``later``) may start while the pipeline is running.
    """
    if merge_request.state != "opened":
        return "not_open"
    if is_draft(merge_request.title):
        return "draft_status"
    if project.merge_request_title_regex and not matches(merge_request.title, project.merge_request_title_regex):
        return "title_regex"
    if project.only_allow_merge_if_pipeline_succeeds and pipeline is not None and not _passes(project, pipeline):
        if pipeline not in ACTIVE_STATUSES:
            return "ci_must_pass"
        if not later:
            return "ci_still_running"
    if project.only_allow_merge_if_all_discussions_are_resolved and unresolved:
        return "discussions_not_resolved"
    if unapproved:
        return "not_approved"
    if merge_request.change_requests:
        return "requested_changes"
    return None


def _passes(project: MergeRequirements, pipeline: Status) -> bool:
    """Return whether a pipeline counts as successful."""
    return pipeline == "success" or (pipeline == "skipped" and project.allow_merge_on_skipped_pipeline)


def obstacle_from_mergeability(project: MergeRequirements, mergeability: Mergeability) -> MergeObstacle | None:
    """Return the obstacle that the mergeability implies, or None."""
    if mergeability == "nothing":
        return "commits_status"
    if mergeability == "conflict":
        return "conflict"
    return "need_rebase" if mergeability == "apart" and project.merge_method != "merge" else None


def scheduled_strategy(merge_request: MergeRequest) -> Strategy | None:
    """Return how a scheduled merge is to happen; None if none is scheduled."""
    if merge_request.state != "opened" or not merge_request.merge_when_pipeline_succeeds:
        return None
    return msgspec.json.decode(merge_request.merge_params or "{}", type=_ScheduledMerge).strategy
