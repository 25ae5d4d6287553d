"""Rebasing of the source branch of a merge request onto its target."""

from functools import partial
from typing import NamedTuple

from ingot.collaboration.merge_requests.merge.message_people import commit_signature
from ingot.collaboration.merge_requests.merge.service import record_merge_error
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.source_branch import pushable_source
from ingot.collaboration.merge_requests.stacks.lower_layers import heads_below
from ingot.collaboration.merge_requests.stacks.own_commits import rewritten_base
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied
from ingot.git.history.ancestry import is_ancestor
from ingot.git.history.commits import Signature, branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_commits import MAX_REBASED_COMMITS, TooManyCommits, rebase_commits
from ingot.git.writing.merge_request_commits import copy_commit
from ingot.git.writing.merge_trees import MergeConflict
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.apply import change_refs

_REBASE_ERROR = "Rebase failed: the changes conflict with the target branch. Please rebase locally."
_CLOSED = "Only an open merge request can be rebased."
_TOO_MANY = f"Rebase failed: there are more than {MAX_REBASED_COMMITS} commits. Please rebase locally."


class SourceContext(NamedTuple):
    """An open merge request whose source branch the caller may change."""

    merge_request: MergeRequest
    source: Project
    target: Project
    caller: Signature


def rebase(database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest) -> None:
    """Rebase the source branch onto the target; raise ``Conflict`` if the commits do not apply there.

    The change of the ref checks the caller's permission, as for every other change of that branch.
    """
    context = database.read(
        partial(load_source_context, actor=actor, merge_request_id=merge_request.id, closed=_CLOSED)
    )
    current, source = context.merge_request, store.open(context.source.repository_key)
    target = store.open(context.target.repository_key)
    tip = branch_tip(target, current.target_branch)
    if tip is None or branch_tip(source, current.source_branch) != current.head_oid:
        raise Conflict("The branches have changed meanwhile. Please try again.")
    # The rebase runs in the source repository, which needs the commits of the target for this.
    copy_commit(target, source, tip)
    if is_ancestor(source, tip, current.head_oid):
        return
    try:
        # Commits of a layer below that the target has in another form are left out.
        lower_heads = database.read(partial(heads_below, merge_request=current))
        lower_base = rewritten_base(target, current.head_oid, tip, lower_heads)
        left_out = [] if lower_base is None else [lower_base]
        rebased = rebase_commits(source, tip, current.head_oid, context.caller, left_out)
    except (MergeConflict, TooManyCommits) as error:
        reason = _TOO_MANY if isinstance(error, TooManyCommits) else _REBASE_ERROR
        database.write(partial(record_merge_error, merge_request=current, reason=reason))
        raise Conflict(reason) from None
    updates = [RefUpdate(f"refs/heads/{current.source_branch}", current.head_oid, rebased)]
    change_refs(database, source, actor, context.source, updates)
    if current.merge_error is not None:
        database.write(partial(record_merge_error, merge_request=current, reason=None))


def load_source_context(
    db: Connection, actor: Actor, merge_request_id: int, closed: str = "The merge request is not open."
) -> SourceContext:
    """Return the projects of a merge request; raise ``Denied`` if the caller may not change its source branch.

    ``closed`` is the reason of the error for one that is not open.
    """
    merge_request = merge_request_by_id(db, merge_request_id)
    if merge_request.state != "opened":
        raise Denied(closed)
    _, source = pushable_source(db, actor, merge_request)
    _, target = find_project(db, actor, merge_request.target_project_id)
    return SourceContext(merge_request, source, target, commit_signature(db, actor.user_id))
