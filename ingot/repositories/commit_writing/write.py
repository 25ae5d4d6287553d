"""Creation of commits on branches, outside of transactions.

If another request moves the branch in the meantime, the commit is created again on the new tip; edits that no longer
apply are refused.
"""

from collections.abc import Callable, Sequence
from time import monotonic

import msgspec

from ingot.accounts.users.commit_addresses import commit_address
from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.core.errors import Conflict, Denied, Invalid, NotFound
from ingot.git.core.names import ref_name_error
from ingot.git.core.paths import path_encodings
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, Commit, Signature, branch_tip, commit_id_or_none, read_commits
from ingot.git.history.last_commit import last_commit_id
from ingot.git.trees.entries import entry_or_none
from ingot.git.writing.cherry_picks import EmptyPick, PickConflict, picked_tree, reverted_tree
from ingot.git.writing.commits import (
    CommitMetadata,
    InvalidAction,
    NoSuchFile,
    TreeAction,
    commit_actions,
    write_commit,
)
from ingot.git.writing.ref_updates import RefUpdate
from ingot.repositories.commits.queries import find_commit
from ingot.repositories.context import RepositoryContext
from ingot.repositories.protection.queries import branch_rules, developers_start_project
from ingot.repositories.ref_changes.apply import access_lookup, change_refs
from ingot.repositories.ref_changes.branch_queue import BUSY_BRANCH, PATIENCE_SECONDS, branch_queue
from ingot.repositories.ref_changes.policy import branch_push_refusal

_MISSING_BRANCH = "You can only create or edit files when you are on a branch"
_APPLY_FAILURE_REASONS = {
    "conflict": "The branch has conflicting changes.",
    "empty": "The branch already contains the result.",
}

BuildCommit = Callable[[Commit | None], str]
"""Writes a commit on top of another one (None for the first commit of a repository) and returns its id."""


class FileMissing(Invalid):
    """The file to be changed or deleted does not exist on the branch."""


class CannotApplyCommit(Invalid):
    """A commit cannot be cherry-picked or reverted; ``code`` is the reason."""

    def __init__(self, verb: str, code: str) -> None:
        super().__init__(f"Sorry, we cannot {verb} this commit automatically. {_APPLY_FAILURE_REASONS[code]}")
        self.code = code


class BranchStart(msgspec.Struct, frozen=True):
    """Start of a branch that does not exist yet; empty for an existing one."""

    branch: str = ""
    oid: str = ""
    force: bool = False
    """Reset the branch to the start if it exists already."""


class FileEdit(msgspec.Struct, frozen=True):
    """Action on a file, with the last commit of the file that the caller has seen."""

    action: TreeAction
    last_commit_id: str = ""


class CommitDetails(msgspec.Struct, frozen=True):
    """Message and author of a commit; an empty name or email defaults to the caller's."""

    message: str
    author_name: str = ""
    author_email: str = ""


def commit_edits(
    database: Database,
    actor: Actor,
    context: RepositoryContext,
    branch: str,
    edits: Sequence[FileEdit],
    details: CommitDetails,
    *,
    start: BranchStart | None = None,
    may_be_empty: bool = True,
) -> Commit:
    """Commit changes of files to a branch, all or none; raise FileMissing or Invalid if one cannot be applied."""
    if not details.message.strip():
        raise Invalid(commit_message=["can't be blank"])
    caller = _committer(database, actor)
    author = msgspec.structs.replace(
        caller, name=details.author_name.strip() or caller.name, email=details.author_email.strip() or caller.email
    )
    metadata = CommitMetadata(details.message, author, caller)

    def build(parent: Commit | None) -> str:
        if parent is not None:
            _require_unchanged(context.repository, parent, edits)
        actions = [edit.action for edit in edits]
        try:
            return commit_actions(context.repository, parent, actions, metadata, may_be_empty=may_be_empty)
        except NoSuchFile as error:
            raise (Invalid if parent is None else FileMissing)(str(error)) from error
        except InvalidAction as error:
            raise Invalid(str(error)) from error

    return _move_branch(database, actor, context, branch, start or BranchStart(), build)


def cherry_pick(
    database: Database,
    actor: Actor,
    context: RepositoryContext,
    sha: str,
    branch: str,
    message: str,
    *,
    names_source: bool = False,
    dry_run: bool,
) -> Commit:
    """Cherry-pick a commit to a branch, keeping its author; return the new tip, or the current one for a dry run.

    With ``names_source``, a message that the caller did not choose ends with the id of the commit.
    """
    commit = find_commit(context.repository, sha)
    copied = f"{commit.message}\n\n(cherry picked from commit {commit.oid})" if names_source else commit.message
    metadata = CommitMetadata(message if message.strip() else copied, commit.author, _committer(database, actor))
    build = _merge_builder(context.repository, "cherry-pick", picked_tree, commit, metadata)
    return _apply_commit(database, actor, context, branch, build, dry_run)


def revert(
    database: Database, actor: Actor, context: RepositoryContext, sha: str, branch: str, *, dry_run: bool
) -> Commit:
    """Revert a commit on a branch; return the new tip, or the current one for a dry run."""
    commit = find_commit(context.repository, sha)
    caller = _committer(database, actor)
    metadata = CommitMetadata(f'Revert "{commit.title}"\n\nThis reverts commit {commit.oid}', caller, caller)
    build = _merge_builder(context.repository, "revert", reverted_tree, commit, metadata)
    return _apply_commit(database, actor, context, branch, build, dry_run)


def _merge_builder(
    repository: Repository,
    verb: str,
    merge: Callable[[Repository, Commit, Commit], str],
    commit: Commit,
    metadata: CommitMetadata,
) -> BuildCommit:
    def build(onto: Commit | None) -> str:
        if onto is None:  # The last branch of the repository has been deleted in the meantime.
            raise NotFound("Branch")
        try:
            return write_commit(repository, merge(repository, commit, onto), [onto.oid], metadata)
        except PickConflict as error:
            raise CannotApplyCommit(verb, "empty" if isinstance(error, EmptyPick) else "conflict") from error

    return build


def _apply_commit(
    database: Database, actor: Actor, context: RepositoryContext, branch: str, build: BuildCommit, dry_run: bool
) -> Commit:
    tip = branch_tip(context.repository, branch)
    if tip is None:
        raise NotFound("Branch")
    if not dry_run:
        return _move_branch(database, actor, context, branch, BranchStart(), build)
    _require_may_push(database, actor, context, branch, tip)
    (onto,) = read_commits(context.repository, [tip])
    build(onto)
    return onto


def _move_branch(
    database: Database, actor: Actor, context: RepositoryContext, branch: str, start: BranchStart, build: BuildCommit
) -> Commit:
    """Build a commit on the tip or start of a branch, move the branch to it and return it.

    Retry while the branch moves, for a limited time; then raise ``Conflict``.
    """
    repository, ref = context.repository, f"refs/heads/{branch}"
    with branch_queue.turn(context.project.id, branch):
        deadline = monotonic() + PATIENCE_SECONDS
        while True:
            old = branch_tip(repository, branch) or NO_OID
            # The check is repeated with the actual commit; without this first check, a refused request would leave
            # objects.
            _require_may_push(database, actor, context, branch, old)
            parent = _parent_commit(repository, branch, old, start)
            oid = build(read_commits(repository, [parent])[0] if parent else None)
            # Before the change: a read that fails afterwards would refuse what has happened.
            (commit,) = read_commits(repository, [oid])
            try:
                change_refs(database, repository, actor, context.project, [RefUpdate(ref, old, oid)])
            except Conflict:
                if monotonic() > deadline:
                    raise Conflict(BUSY_BRANCH) from None
                continue
            return commit


def _parent_commit(repository: Repository, branch: str, tip: str, start: BranchStart) -> str | None:
    """Return the parent of the new commit; None for the first commit of a repository."""
    exists = tip != NO_OID
    if not exists and not start.oid and not repository.branches_exist():
        return None
    if not start.oid and start.branch in ("", branch):
        if not exists:
            raise Invalid(_MISSING_BRANCH)
        return tip
    if exists and not start.force:
        raise Invalid(f"A branch called '{branch}' already exists. To change it, omit the start.")
    parent = commit_id_or_none(repository, start.oid) if start.oid else branch_tip(repository, start.branch)
    if parent is None:
        raise Invalid(start_sha=["is not a commit of this repository"]) if start.oid else Invalid(_MISSING_BRANCH)
    return parent


def _require_may_push(database: Database, actor: Actor, context: RepositoryContext, branch: str, tip: str) -> None:
    """Raise Denied if the caller may not update the branch at all, and Invalid if the branch name is not allowed."""
    error = ref_name_error(branch) if tip == NO_OID else None
    if error is not None:
        raise Invalid(branch=[error])

    def find_refusal(db: Connection) -> str | None:
        access, project = access_lookup(actor, context.project.id)(db)
        starts = developers_start_project(db, project)
        return branch_push_refusal(
            actor, access, project, branch_rules(db, project.id), branch, developers_start=starts
        )

    refusal = database.read(find_refusal)
    if refusal is not None:
        raise Denied(refusal)


def _require_unchanged(repository: Repository, parent: Commit, edits: Sequence[FileEdit]) -> None:
    """Raise Invalid if a file has been changed since the commit that the caller has seen."""
    for edit in edits:
        if not edit.last_commit_id:
            continue
        for path in path_encodings(edit.action.previous_path or edit.action.path):
            if entry_or_none(repository, parent.oid, path) is None:
                continue
            if last_commit_id(repository, parent.oid, path) != edit.last_commit_id.lower():
                raise Invalid("You are attempting to update a file that has changed since you started editing it.")
            break


def _committer(database: Database, actor: Actor) -> Signature:
    email = database.read(lambda db: commit_address(db, find_user(db, actor.user_id)))
    return Signature(actor.name or actor.username, email, int(to_datetime(database.clock()).timestamp()), 0)
