"""Making and deleting branches, outside of transactions."""

from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.errors import Conflict, Denied, Invalid
from ingot.git.core.names import ref_name_error
from ingot.git.core.refs import HEADS
from ingot.git.core.sorted_refs import NamedRef, sorted_refs
from ingot.git.history.commits import NO_OID, branch_tip, commit_id_or_none
from ingot.git.history.merged_branches import merged_branches
from ingot.git.writing.ref_updates import RefUpdate
from ingot.repositories.context import RepositoryContext
from ingot.repositories.protection import policy as protection
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.policy import DEFAULT_BRANCH_REFUSAL
from ingot.repositories.ref_changes.staged import change_refs

_BATCH_SIZE = 500
"""Branches that are deleted in one change."""


def create_branch(database: Database, actor: Actor, context: RepositoryContext, name: str, ref: str) -> NamedRef:
    """Add a branch at another branch, a tag or a commit."""
    if ref_name_error(name) is not None:
        raise Invalid("Branch name is invalid")
    if branch_tip(context.repository, name) is not None:
        raise Invalid("Branch already exists")
    start = commit_id_or_none(context.repository, ref)
    if start is None:
        raise Invalid("Invalid reference name")
    update = RefUpdate(f"refs/heads/{name}", NO_OID, start)
    try:
        change_refs(database, context.repository, actor, context.project, [update])
    except Conflict:
        raise Invalid("Branch already exists") from None
    return NamedRef(name.encode(), start)


def delete_branch(database: Database, actor: Actor, context: RepositoryContext, name: str) -> None:
    """Remove a branch; one that is gone already is no error."""
    tip = branch_tip(context.repository, name)
    if tip is None:
        return
    if name == context.project.default_branch:
        raise Invalid(DEFAULT_BRANCH_REFUSAL)
    update = RefUpdate(f"refs/heads/{name}", tip, NO_OID)
    try:
        change_refs(database, context.repository, actor, context.project, [update])
    except Conflict:
        if branch_tip(context.repository, name) is not None:
            raise


def delete_merged_branches(database: Database, actor: Actor, context: RepositoryContext) -> None:
    """Remove every branch that the default branch contains, but for protected ones; one that moves meanwhile stays."""
    repository, project = context.repository, context.project
    default = branch_tip(repository, project.default_branch)
    if default is None:
        return
    branches = sorted_refs(repository, HEADS, project.generation)
    merged = merged_branches(repository, branches, default) - {default}
    rules = database.read(lambda db: branch_rules(db, project.id))
    gone = []
    for branch in branches:
        try:
            name = branch.name.decode()
        except UnicodeDecodeError:  # Nothing could be recorded of it, so it is left to whoever made it.
            continue
        if branch.oid in merged and not protection.matching_branch_rules(rules, name):
            gone.append(RefUpdate(f"refs/heads/{name}", branch.oid, NO_OID))
    for start in range(0, len(gone), _BATCH_SIZE):
        _delete_individually_on_conflict(database, actor, context, gone[start : start + _BATCH_SIZE])


def _delete_individually_on_conflict(
    database: Database, actor: Actor, context: RepositoryContext, updates: list[RefUpdate]
) -> None:
    """Delete branches all at once, and one by one where somebody was at one of them."""
    try:
        change_refs(database, context.repository, actor, context.project, updates)
    except (Conflict, Denied):
        if len(updates) > 1:
            for update in updates:
                _delete_individually_on_conflict(database, actor, context, [update])
