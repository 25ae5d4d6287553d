"""Who may merge."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_write_project
from ingot.repositories.protection.policy import matching_branch_rules, may_merge_into, may_push_to
from ingot.repositories.protection.tables import ProtectedBranch


class MergeCandidate(NamedTuple):
    """A merge request, and the rules on branches of the project that it would change."""

    found: MergeRequestLookup
    rules: Sequence[ProtectedBranch]


def may_merge(actor: Actor, access: Access, candidate: MergeCandidate) -> bool:
    """Who may push to the target branch, and whom a rule on it lets merge; nobody where the project is archived."""
    project, branch = candidate.found.project, candidate.found.merge_request.target_branch
    if not may_write_project(actor, access, project):
        return False
    rules = matching_branch_rules(candidate.rules, branch)
    return not rules or may_push_to(actor, access, rules) or may_merge_into(actor, access, rules)


def may_cancel_merge(actor: Actor, access: Access, candidate: MergeCandidate) -> bool:
    """Who may merge, and who wrote it."""
    theirs = actor.known and candidate.found.merge_request.author_id == actor.user_id
    return may_merge(actor, access, candidate) or (theirs and not candidate.found.project.archived)
