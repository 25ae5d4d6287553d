"""Who may merge."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.merge_requests.policy import Found
from ingot.projects.policy import may_write_project
from ingot.repository.protection.policy import branch_rules_on, may_merge_into, may_push_to
from ingot.repository.protection.tables import ProtectedBranch


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
