"""Rebasing: the commits of a merge request are done again upon its target, and its source branch moves to them."""

from functools import partial
from typing import NamedTuple

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import Conflict, Denied, NotFound
from ingot.git.ancestry import is_ancestor
from ingot.git.commits import Signature, branch_tip
from ingot.git.merge_commits import MOST_REPLAYED, TooMany, rebased_commit
from ingot.git.merge_trees import CannotMerge
from ingot.git.offered import bring_commit
from ingot.git.store import Store
from ingot.git.updating import RefUpdate
from ingot.merge_requests.merging.service import note_trouble
from ingot.merge_requests.merging.work import signature
from ingot.merge_requests.queries import merge_request_by_id
from ingot.merge_requests.tables import MergeRequest
from ingot.projects.policy import may_write_project
from ingot.projects.queries import find_project
from ingot.projects.tables import Project
from ingot.repository.changes.work import change_refs

_TROUBLE = "Rebase failed: what it changes looks different on the target branch by now. Please rebase locally."
_TOO_MANY = f"Rebase failed: there are more than {MOST_REPLAYED} commits. Please rebase locally."


class _Ground(NamedTuple):
    merge_request: MergeRequest
    source: Project
    target: Project
    caller: Signature


def rebase(database: Database, store: Store, actor: Actor, merge_request: MergeRequest) -> None:
    """Move the source branch to commits that stand upon the target; raises ``Conflict`` where they do not fit there.

    The gate decides whether the caller may, as for every other change of that branch.
    """
    ground = database.read(partial(_look, actor=actor, merge_request_id=merge_request.id))
    found, source = ground.merge_request, store.open(ground.source.repository_key)
    target = store.open(ground.target.repository_key)
    tip = branch_tip(target, found.target_branch)
    if tip is None or branch_tip(source, found.source_branch) != found.head_oid:
        raise Conflict("The branches have changed meanwhile. Please try again.")
    # It is done where it will be read; what the target has besides comes with it.
    bring_commit(target, source, tip)
    if is_ancestor(source, tip, found.head_oid):
        return
    try:
        rebased = rebased_commit(source, tip, found.head_oid, ground.caller)
    except (CannotMerge, TooMany) as error:
        reason = _TOO_MANY if isinstance(error, TooMany) else _TROUBLE
        database.write(partial(note_trouble, merge_request=found, reason=reason))
        raise Conflict(reason) from None
    moved = [RefUpdate(f"refs/heads/{found.source_branch}", found.head_oid, rebased)]
    change_refs(database, source, actor, ground.source, moved)
    if found.merge_error is not None:
        database.write(partial(note_trouble, merge_request=found, reason=None))


def _look(db: Connection, actor: Actor, merge_request_id: int) -> _Ground:
    merge_request = merge_request_by_id(db, merge_request_id)
    if merge_request.state != "opened":
        raise Denied("Only an open merge request can be rebased.")
    try:
        here, source = find_project(db, actor, merge_request.source_project_id or 0)
    except NotFound:
        raise Denied("You are not allowed to push to the source branch.") from None
    if not may_write_project(actor, here, source):
        raise Denied("You are not allowed to push to the source branch.")
    _, target = find_project(db, actor, merge_request.target_project_id)
    return _Ground(merge_request, source, target, signature(db, actor.user_id))
