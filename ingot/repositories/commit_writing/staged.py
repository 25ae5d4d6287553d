"""Moving branches by commits that are made for it, outside of transactions.

Whoever finds that somebody else has moved the branch meanwhile makes the commit anew upon that, as if the call had
come a moment later; what no longer fits then is refused as it would have been.
"""

import threading
from collections.abc import Callable, Sequence

import msgspec

from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.errors import Conflict, Denied, Invalid, NotFound
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
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.policy import RefUpdateContext, ref_update_refusal
from ingot.repositories.ref_changes.staged import access_lookup, change_refs

_MAX_ATTEMPTS = 12
_UNKNOWN_OID = "f" * 40
_MISSING_BRANCH = "You can only create or edit files when you are on a branch"
_APPLY_FAILURE_REASONS = {
    "conflict": "What it changed looks different by now, so somebody has to decide.",
    "empty": "There is nothing left to change: the branch is that way already.",
}
# Within a process those who want the same branch go one after the other, since all but one would try in vain.
_BRANCH_LOCKS = tuple(threading.Lock() for _ in range(64))

BuildCommit = Callable[[Commit | None], str]
"""Writes a commit upon another one, or as the first of all; gives its id."""


class FileMissing(Invalid):
    """There is nothing on the branch where a file was to be changed or deleted."""


class CannotApplyCommit(Invalid):
    """What a commit did cannot be done again, or undone; ``code`` says for which reason."""

    def __init__(self, verb: str, code: str) -> None:
        super().__init__(f"Sorry, we cannot {verb} this commit automatically. {_APPLY_FAILURE_REASONS[code]}")
        self.code = code


class BranchStart(msgspec.Struct, frozen=True):
    """Where a branch begins that is not there yet; nothing for one that is."""

    branch: str = ""
    oid: str = ""
    force: bool = False
    """Whether a branch that is there is begun anew."""


class FileEdit(msgspec.Struct, frozen=True):
    """An action on a file, and the last commit that the caller knows of it."""

    action: TreeAction
    last_commit_id: str = ""


class CommitDetails(msgspec.Struct, frozen=True):
    """What a caller says of a commit; what is left empty is the caller's own."""

    message: str
    author_name: str = ""
    author_email: str = ""


def commit_edits(
    database: Database,
    actor: Actor,
    context: RepositoryContext,
    branch: str,
    edits: Sequence[FileEdit],
    said: CommitDetails,
    *,
    start: BranchStart | None = None,
    may_be_empty: bool = True,
) -> Commit:
    """Commit changes of files to a branch, all of them or none."""
    if not said.message.strip():
        raise Invalid(commit_message=["can't be blank"])
    caller = _committer(database, actor)
    author = msgspec.structs.replace(
        caller, name=said.author_name.strip() or caller.name, email=said.author_email.strip() or caller.email
    )
    words = CommitMetadata(said.message, author, caller)

    def build(parent: Commit | None) -> str:
        if parent is not None:
            _require_unchanged(context.repository, parent, edits)
        actions = [edit.action for edit in edits]
        try:
            return commit_actions(context.repository, parent, actions, words, may_be_empty=may_be_empty)
        except NoSuchFile as error:
            raise (Invalid if parent is None else FileMissing)(str(error)) from error
        except InvalidAction as error:
            raise Invalid(str(error)) from error

    return _move_branch(database, actor, context, branch, start or BranchStart(), build)


def cherry_pick(
    database: Database, actor: Actor, context: RepositoryContext, sha: str, branch: str, message: str, *, dry_run: bool
) -> Commit:
    """Do again upon a branch what a commit did, in its author's name; gives the new tip, or the old one for a try."""
    commit = find_commit(context.repository, sha)
    words = CommitMetadata(message if message.strip() else commit.message, commit.author, _committer(database, actor))
    build = _merge_builder(context.repository, "cherry-pick", picked_tree, commit, words)
    return _apply_commit(database, actor, context, branch, build, dry_run)


def revert(
    database: Database, actor: Actor, context: RepositoryContext, sha: str, branch: str, *, dry_run: bool
) -> Commit:
    """Undo upon a branch what a commit did; gives the new tip, or the old one for a try."""
    commit = find_commit(context.repository, sha)
    caller = _committer(database, actor)
    words = CommitMetadata(f'Revert "{commit.title}"\n\nThis reverts commit {commit.oid}', caller, caller)
    build = _merge_builder(context.repository, "revert", reverted_tree, commit, words)
    return _apply_commit(database, actor, context, branch, build, dry_run)


def _merge_builder(
    repository: Repository,
    verb: str,
    merge: Callable[[Repository, Commit, Commit], str],
    commit: Commit,
    words: CommitMetadata,
) -> BuildCommit:
    def build(onto: Commit | None) -> str:
        if onto is None:  # Deleted meanwhile, and with it the last branch of all.
            raise NotFound("Branch")
        try:
            return write_commit(repository, merge(repository, commit, onto), [onto.oid], words)
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
    """Let a branch point at a commit that is built upon where it stands, or begins; gives that commit."""
    repository, ref = context.repository, f"refs/heads/{branch}"
    with _BRANCH_LOCKS[hash((repository.path, ref)) % len(_BRANCH_LOCKS)]:
        for _ in range(_MAX_ATTEMPTS):
            old = branch_tip(repository, branch) or NO_OID
            # The gate is asked again with the commit itself; but who may not come through shall leave no objects.
            _require_may_push(database, actor, context, branch, old)
            begin = _parent_commit(repository, branch, old, start)
            made = build(read_commits(repository, [begin])[0] if begin else None)
            try:
                change_refs(database, repository, actor, context.project, [RefUpdate(ref, old, made)])
            except Conflict:
                continue
            return read_commits(repository, [made])[0]
    raise Conflict("Others change this branch all the time. Please try again.")


def _parent_commit(repository: Repository, branch: str, tip: str, start: BranchStart) -> str | None:
    """The commit to build upon; nothing for the first one of a repository."""
    exists = tip != NO_OID
    if not exists and not start.oid and not repository.branches_exist():
        return None
    if not start.oid and start.branch in ("", branch):
        if not exists:
            raise Invalid(_MISSING_BRANCH)
        return tip
    if exists and not start.force:
        raise Invalid(f"A branch called '{branch}' already exists. Leave out where it should begin, to change it.")
    begin = commit_id_or_none(repository, start.oid) if start.oid else branch_tip(repository, start.branch)
    if begin is None:
        raise Invalid(start_sha=["is not a commit of this repository"]) if start.oid else Invalid(_MISSING_BRANCH)
    return begin


def _require_may_push(database: Database, actor: Actor, context: RepositoryContext, branch: str, tip: str) -> None:
    """Raise ``Denied`` for who may not move a branch, wherever to, and ``Invalid`` where none can be called so."""
    trouble = ref_name_error(branch) if tip == NO_OID else None
    if trouble is not None:
        raise Invalid(branch=[trouble])

    def look(db: Connection) -> RefUpdateContext:
        access, project = access_lookup(actor, context.project.id)(db)
        return RefUpdateContext(actor, access, project, branch_rules(db, project.id), (), from_git_client=False)

    update = RefUpdate(f"refs/heads/{branch}", tip, _UNKNOWN_OID)
    denied = ref_update_refusal(database.read(look), update, lambda _: False)
    if denied is not None:
        raise Denied(denied)


def _require_unchanged(repository: Repository, parent: Commit, edits: Sequence[FileEdit]) -> None:
    """Raise where a file was changed by a later commit than the caller knows of."""
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
    email = database.read(lambda db: find_user(db, actor.user_id).email)
    return Signature(actor.name or actor.username, email, int(to_datetime(database.clock()).timestamp()), 0)
