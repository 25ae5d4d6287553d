"""Who may merge, and what has to be so before anybody can."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.merge_requests.drafts import is_draft
from ingot.merge_requests.policy import Found
from ingot.merge_requests.tables import MergeRequest
from ingot.projects.policy import may_write_project
from ingot.projects.tables import Project
from ingot.repository.pipelines.tables import Status
from ingot.repository.protection.policy import branch_rules_on, may_merge_into, may_push_to
from ingot.repository.protection.tables import ProtectedBranch

UNDER_WAY: tuple[Status, ...] = ("created", "pending", "running")
_SATISFIES: tuple[Status, ...] = ("success", "skipped")
Obstacle = Literal[
    "not_open",
    "draft_status",
    "ci_must_pass",
    "ci_still_running",
    "discussions_not_resolved",
    "conflict",
    "need_rebase",
]
"""Why something is not merged, in the words that clients know."""


class Candidate(NamedTuple):
    """A merge request, and the rules on branches of the project that it would change."""

    found: Found
    rules: Sequence[ProtectedBranch]


def may_merge(actor: Actor, here: Access, candidate: Candidate) -> bool:
    """Who may push to the target branch, and whom a rule on it lets merge; nobody where the project is archived."""
    project, branch = candidate.found.project, candidate.found.merge_request.target_branch
    if not may_write_project(actor, here, project):
        return False
    rules = branch_rules_on(candidate.rules, branch)
    return not rules or may_push_to(actor, here, rules) or may_merge_into(actor, here, rules)


def may_cancel_merge(actor: Actor, here: Access, candidate: Candidate) -> bool:
    """Who may merge, and who wrote it."""
    theirs = actor.known and candidate.found.merge_request.author_id == actor.user_id
    return may_merge(actor, here, candidate) or (theirs and not candidate.found.project.archived)


def obstacle_ahead(
    project: Project, merge_request: MergeRequest, pipeline: Status | None, *, undecided: bool, later: bool
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
