"""State of the approvals of merge requests: rules in effect, counted approvals, missing approvals."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingot.collaboration.merge_requests.approval_rules.limits import options_in_force
from ingot.collaboration.merge_requests.approval_rules.queries import (
    approvers_by_merge_request,
    members_by_group,
    rules_of_page,
)
from ingot.collaboration.merge_requests.approval_rules.tables import ApprovalRule
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.db.connection import Connection
from ingot.projects.projects.options import ProjectOptions
from ingot.repositories.protection.policy import matching_branch_rules
from ingot.repositories.protection.queries import branch_rules_of_projects
from ingot.repositories.protection.tables import ProtectedBranch


class RuleState(NamedTuple):
    """Approval rule of a merge request, with the approvals that it counts."""

    rule: ApprovalRule
    eligible: frozenset[int]
    """Ids of the users whose approvals count; empty if those of all users count."""
    approved_by: tuple[int, ...]

    @property
    def left(self) -> int:
        """Number of missing approvals."""
        return max(self.rule.approvals_required - len(self.approved_by), 0)


class ApprovalState(NamedTuple):
    """Approvals of a merge request."""

    rules: Sequence[RuleState]
    minimum: int
    """Approvals that the project requires from any users."""
    approvers: Sequence[int]
    """Ids of all approvers, in the order of their approvals."""
    counted: Sequence[int]
    """Ids of the approvers whose approvals count."""
    overwritten: bool
    """Whether the merge request has rules of its own, which replace those of the project."""

    @property
    def required(self) -> int:
        """Number of approvals that are required in total."""
        return max(self.minimum, sum(state.rule.approvals_required for state in self.rules))

    @property
    def left(self) -> int:
        """Number of missing approvals."""
        return max(self.minimum - len(self.counted), sum(state.left for state in self.rules), 0)


def requires_approvals(options: ProjectOptions) -> bool:
    """Return whether merge requests of a project may need approvals; most projects have no rules."""
    return options.has_approval_rules or options.approvals_before_merge > 0


def approval_states(
    db: Connection, page: Sequence[MergeRequest], options: Mapping[int, ProjectOptions]
) -> dict[int, ApprovalState]:
    """Return the states of merge requests by id, in at most four statements; ``options`` are those of the targets."""
    if not page:
        return {}
    project_ids = {
        merge_request.target_project_id
        for merge_request in page
        if options[merge_request.target_project_id].has_approval_rules
    }
    ids = [merge_request.id for merge_request in page]
    approvers = approvers_by_merge_request(db, ids)
    rules = rules_of_page(db, project_ids, ids) if project_ids else []
    members = members_by_group(db, {group_id for rule in rules for group_id in rule.groups}) if rules else {}
    limited = {rule.project_id for rule in rules if is_limited_to_branches(rule)}
    branches = branch_rules_of_projects(db, limited) if limited else {}
    return {
        merge_request.id: _state(
            merge_request,
            options_in_force(db, options[merge_request.target_project_id]),
            approvers.get(merge_request.id, []),
            [rule for rule in rules if rule.project_id == merge_request.target_project_id],
            members,
            branches.get(merge_request.target_project_id, ()),
        )
        for merge_request in page
    }


def approval_state(db: Connection, merge_request: MergeRequest, options: ProjectOptions) -> ApprovalState:
    """Return the state of one merge request."""
    return approval_states(db, [merge_request], {merge_request.target_project_id: options})[merge_request.id]


def without_required_approvals(
    db: Connection, page: Sequence[MergeRequest], options: Mapping[int, ProjectOptions]
) -> frozenset[int]:
    """Return the ids of the open merge requests that lack approvals; without rules, no statement is executed."""
    checked = [
        merge_request
        for merge_request in page
        if merge_request.state == "opened" and requires_approvals(options[merge_request.target_project_id])
    ]
    return frozenset(number for number, state in approval_states(db, checked, options).items() if state.left)


def lacks_approvals(db: Connection, merge_request: MergeRequest, options: ProjectOptions) -> bool:
    """Return whether an open merge request lacks approvals."""
    return bool(without_required_approvals(db, [merge_request], {merge_request.target_project_id: options}))


def is_limited_to_branches(rule: ApprovalRule) -> bool:
    """Return whether a rule applies to some branches only."""
    return rule.applies_to_all_protected_branches or bool(rule.protected_branches)


def _state(
    merge_request: MergeRequest,
    options: ProjectOptions,
    approvers: Sequence[int],
    rules: Sequence[ApprovalRule],
    members: Mapping[int, set[int]],
    branches: Sequence[ProtectedBranch],
) -> ApprovalState:
    own = [rule for rule in rules if rule.merge_request_id == merge_request.id]
    overwritten = bool(own) and not options.disable_overriding_approvers_per_merge_request
    if overwritten:
        in_effect = own
    else:
        protecting = matching_branch_rules(branches, merge_request.target_branch)
        in_effect = [rule for rule in rules if rule.merge_request_id is None and _applies(rule, protecting)]
    author = () if options.merge_requests_author_approval else (merge_request.author_id,)
    counted = [user_id for user_id in approvers if user_id not in author]
    return ApprovalState(
        [_rule_state(rule, members, counted, author) for rule in in_effect],
        options.approvals_before_merge,
        approvers,
        counted,
        overwritten,
    )


def _applies(rule: ApprovalRule, protecting: Sequence[ProtectedBranch]) -> bool:
    if rule.applies_to_all_protected_branches:
        return bool(protecting)
    named = rule.protected_branches
    return not named or any(branch.id in named for branch in protecting if not branch.inherited)


def _rule_state(
    rule: ApprovalRule, members: Mapping[int, set[int]], counted: Sequence[int], author: Sequence[int]
) -> RuleState:
    if rule.counts_everyone:
        return RuleState(rule, frozenset(), tuple(counted))
    eligible = set(rule.users).union(*(members.get(group_id, ()) for group_id in rule.groups)).difference(author)
    return RuleState(rule, frozenset(eligible), tuple(user_id for user_id in counted if user_id in eligible))
