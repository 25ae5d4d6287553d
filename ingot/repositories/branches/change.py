"""Creation and deletion of branches, outside of transactions."""

from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, Invalid
from ingot.git.core.names import ref_name_error
from ingot.git.core.refs import HEADS
from ingot.git.core.sorted_refs import NamedRef, sorted_refs
from ingot.git.history.commits import NO_OID, branch_tip, commit_id_or_none
from ingot.git.history.merged_branches import merged_branches
from ingot.git.writing.commits import TreeAction
from ingot.git.writing.ref_updates import RefUpdate
from ingot.repositories.commit_writing.write import CommitDetails, FileEdit, commit_edits
from ingot.repositories.context import RepositoryContext
from ingot.repositories.protection import policy as protection
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.apply import change_refs
from ingot.repositories.ref_changes.policy import DEFAULT_BRANCH_REFUSAL

_BATCH_SIZE = 500
"""Number of branches deleted in one change."""

INVALID_REF = "Invalid reference name"


def create_branch(database: Database, actor: Actor, context: RepositoryContext, name: str, ref: str) -> NamedRef:
    """Create a branch at a branch, tag or commit; raise Invalid if the name or the start is invalid.

    An empty repository first gets an initial commit on its default branch if that is the start, as in GitLab 9.4.
    """
    if ref_name_error(name) is not None:
        raise Invalid("Branch name is invalid")
    default = context.project.default_branch
    if ref in (default, f"refs/heads/{default}", "HEAD") and context.repository.is_empty():
        _create_initial_commit(database, actor, context, default)
    if branch_tip(context.repository, name) is not None:
        raise Invalid("Branch already exists")
    start = commit_id_or_none(context.repository, ref)
    if start is None:
        raise Invalid(INVALID_REF)
    update = RefUpdate(f"refs/heads/{name}", NO_OID, start)
    try:
        change_refs(database, context.repository, actor, context.project, [update])
    except Conflict:
        raise Invalid("Branch already exists") from None
    return NamedRef(name.encode(), start)


def _create_initial_commit(database: Database, actor: Actor, context: RepositoryContext, branch: str) -> None:
    """Commit an empty README.md to an empty repository, unless a concurrent request has filled it."""
    edit = FileEdit(TreeAction("create", "README.md", content=b""))
    try:
        commit_edits(database, actor, context, branch, [edit], CommitDetails("Add README.md"))
    except Invalid:
        if context.repository.is_empty():
            raise


def delete_branch(database: Database, actor: Actor, context: RepositoryContext, name: str) -> None:
    """Delete a branch; do nothing if it does not exist."""
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
    """Delete the unprotected branches contained in the default branch; skip branches that move in the meantime."""
    repository, project = context.repository, context.project
    default = branch_tip(repository, project.default_branch)
    if default is None:
        return
    branches = sorted_refs(repository, HEADS, project.generation)
    merged = merged_branches(repository, branches, default) - {default}
    rules = database.read(lambda db: branch_rules(db, project.id))
    updates = []
    for branch in branches:
        try:
            name = branch.name.decode()
        except UnicodeDecodeError:
            # Such a name cannot be recorded in the database; the branch can only be deleted with git.
            continue
        if branch.oid in merged and not protection.matching_branch_rules(rules, name):
            updates.append(RefUpdate(f"refs/heads/{name}", branch.oid, NO_OID))
    for start in range(0, len(updates), _BATCH_SIZE):
        _delete_individually_on_conflict(database, actor, context, updates[start : start + _BATCH_SIZE])


def _delete_individually_on_conflict(
    database: Database, actor: Actor, context: RepositoryContext, updates: list[RefUpdate]
) -> None:
    """Delete branches in one change, or one by one if one of them has been changed concurrently."""
    try:
        change_refs(database, context.repository, actor, context.project, updates)
    except (Conflict, Denied):
        if len(updates) > 1:
            for update in updates:
                _delete_individually_on_conflict(database, actor, context, [update])
