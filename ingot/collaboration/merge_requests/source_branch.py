"""Permission to change the source branch of a merge request, by the same rule as a push to it."""

from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, NotFound
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.policy import branch_push_refusal

_REFUSAL = "You are not allowed to push to the source branch."


def pushable_source(
    db: Connection, actor: Actor, merge_request: MergeRequest, *, forced: bool = False
) -> tuple[Access, Project]:
    """Return the source project with the caller's access; raise ``Denied`` if they may not add commits to the branch.

    ``forced`` requires that they may replace its commits, as a rebase does.
    """
    try:
        access, source = find_project(db, actor, merge_request.source_project_id or 0)
    except NotFound:
        raise Denied(_REFUSAL) from None
    rules, branch = branch_rules(db, source.id), merge_request.source_branch
    if branch_push_refusal(actor, access, source, rules, branch, forced=forced) is not None:
        raise Denied(_REFUSAL)
    return access, source


def may_push_to_source(db: Connection, actor: Actor, merge_request: MergeRequest, *, forced: bool = False) -> bool:
    """Return whether ``pushable_source`` returns the source project."""
    try:
        pushable_source(db, actor, merge_request, forced=forced)
    except Denied:
        return False
    return True
