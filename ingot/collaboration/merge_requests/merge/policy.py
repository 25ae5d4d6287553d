"""Permissions of merging."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_write_project
from ingot.repositories.protection.policy import matching_branch_rules, may_merge_into, may_push_to
from ingot.repositories.protection.tables import ProtectedBranch


class MergeCandidate(NamedTuple):
    """A merge request with the branch protection rules of its target project."""

    lookup: MergeRequestLookup
    rules: Sequence[ProtectedBranch]


def may_merge(actor: Actor, access: Access, candidate: MergeCandidate) -> bool:
    """Users who may push to or merge into the target branch, unless the project is archived."""
    project, branch = candidate.lookup.project, candidate.lookup.merge_request.target_branch
    if not may_write_project(actor, access, project):
        return False
    rules = matching_branch_rules(candidate.rules, branch)
    return not rules or may_push_to(actor, access, rules) or may_merge_into(actor, access, rules)


def may_cancel_merge(actor: Actor, access: Access, candidate: MergeCandidate) -> bool:
    """Users who may merge, and the author."""
    is_author = actor.known and candidate.lookup.merge_request.author_id == actor.user_id
    return may_merge(actor, access, candidate) or (is_author and not candidate.lookup.project.archived)
