"""Moving branches by commits that are made for it, outside of transactions.

Whoever finds that somebody else has moved the branch meanwhile makes the commit anew upon that, as if the call had
come a moment later; what no longer fits then is refused as it would have been.
"""

import threading
from collections.abc import Callable, Sequence

import msgspec

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.times import moment
from ingot.errors import Conflict, Denied, Invalid, NotFound
from ingot.git.commits import NO_OID, Commit, Signature, branch_tip, commit_id, read_commits
from ingot.git.entries import entry_at
from ingot.git.lastcommit import last_commit_id
from ingot.git.names import ref_trouble
from ingot.git.paths import spellings
from ingot.git.picking import CannotPick, NothingToPick, picked_tree, reverted_tree
from ingot.git.repository import Repository
from ingot.git.updating import RefUpdate
from ingot.git.writing import Action, CannotApply, NoSuchFile, Words, commit_actions, write_commit
from ingot.repository.changes.policy import Ground, refusal
from ingot.repository.changes.work import change_refs, standing_of
from ingot.repository.commits.queries import find_commit
from ingot.repository.place import Place
from ingot.repository.protection.queries import branch_rules
from ingot.users.accounts.queries import find_user

_MOST_TRIES = 12
_SOMEWHERE = "f" * 40
_MISSING_BRANCH = "You can only create or edit files when you are on a branch"
_REASONS = {
    "conflict": "What it changed looks different by now, so somebody has to decide.",
    "empty": "There is nothing left to change: the branch is that way already.",
}
# Within a process those who want the same branch go one after the other, since all but one would try in vain.
_TURNS = tuple(threading.Lock() for _ in range(64))

Build = Callable[[Commit | None], str]
"""Writes a commit upon another one, or as the first of all; gives its id."""


class FileGone(Invalid):
    """There is nothing on the branch where a file was to be changed or deleted."""


class CannotRedo(Invalid):
    """What a commit did cannot be done again, or undone; ``code`` says for which reason."""

    def __init__(self, verb: str, code: str) -> None:
        super().__init__(f"Sorry, we cannot {verb} this commit automatically. {_REASONS[code]}")
        self.code = code


class Start(msgspec.Struct, frozen=True):
    """Where a branch begins that is not there yet; nothing for one that is."""

    branch: str = ""
    oid: str = ""
    force: bool = False
    """Whether a branch that is there is begun anew."""


class Edit(msgspec.Struct, frozen=True):
    """An action on a file, and the last commit that the caller knows of it."""

    action: Action
    last_commit_id: str = ""


class Said(msgspec.Struct, frozen=True):
    """What a caller says of a commit; what is left empty is the caller's own."""

    message: str
    author_name: str = ""
    author_email: str = ""


def commit_edits(
    database: Database,
    actor: Actor,
    place: Place,
    branch: str,
    edits: Sequence[Edit],
    said: Said,
    *,
    start: Start | None = None,
    may_be_empty: bool = True,
) -> Commit:
    """Commit changes of files to a branch, all of them or none."""
    if not said.message.strip():
        raise Invalid(commit_message=["can't be blank"])
    caller = _caller(database, actor)
    author = msgspec.structs.replace(
        caller, name=said.author_name.strip() or caller.name, email=said.author_email.strip() or caller.email
    )
    words = Words(said.message, author, caller)

    def build(parent: Commit | None) -> str:
        if parent is not None:
            _require_unchanged(place.repository, parent, edits)
        actions = [edit.action for edit in edits]
        try:
            return commit_actions(place.repository, parent, actions, words, may_be_empty=may_be_empty)
        except NoSuchFile as error:
            raise (Invalid if parent is None else FileGone)(str(error)) from error
        except CannotApply as error:
            raise Invalid(str(error)) from error

    return _move_branch(database, actor, place, branch, start or Start(), build)


def cherry_pick(
    database: Database, actor: Actor, place: Place, sha: str, branch: str, message: str, *, dry_run: bool
) -> Commit:
    """Do again upon a branch what a commit did, in its author's name; gives the new tip, or the old one for a try."""
    commit = find_commit(place.repository, sha)
    words = Words(message if message.strip() else commit.message, commit.author, _caller(database, actor))
    build = _merging(place.repository, "cherry-pick", picked_tree, commit, words)
    return _redo(database, actor, place, branch, build, dry_run)


def revert(database: Database, actor: Actor, place: Place, sha: str, branch: str, *, dry_run: bool) -> Commit:
    """Undo upon a branch what a commit did; gives the new tip, or the old one for a try."""
    commit = find_commit(place.repository, sha)
    caller = _caller(database, actor)
    words = Words(f'Revert "{commit.title}"\n\nThis reverts commit {commit.oid}', caller, caller)
    build = _merging(place.repository, "revert", reverted_tree, commit, words)
    return _redo(database, actor, place, branch, build, dry_run)


def _merging(
    repository: Repository, verb: str, merge: Callable[[Repository, Commit, Commit], str], commit: Commit, words: Words
) -> Build:
    def build(onto: Commit | None) -> str:
        if onto is None:  # Deleted meanwhile, and with it the last branch of all.
            raise NotFound("Branch")
        try:
            return write_commit(repository, merge(repository, commit, onto), [onto.oid], words)
        except CannotPick as error:
            raise CannotRedo(verb, "empty" if isinstance(error, NothingToPick) else "conflict") from error

    return build


def _redo(database: Database, actor: Actor, place: Place, branch: str, build: Build, dry_run: bool) -> Commit:
    tip = branch_tip(place.repository, branch)
    if tip is None:
        raise NotFound("Branch")
    if not dry_run:
        return _move_branch(database, actor, place, branch, Start(), build)
    _require_passage(database, actor, place, branch, tip)
    (onto,) = read_commits(place.repository, [tip])
    build(onto)
    return onto


def _move_branch(database: Database, actor: Actor, place: Place, branch: str, start: Start, build: Build) -> Commit:
    """Let a branch point at a commit that is built upon where it stands, or begins; gives that commit."""
    repository, ref = place.repository, f"refs/heads/{branch}"
    with _TURNS[hash((repository.path, ref)) % len(_TURNS)]:
        for _ in range(_MOST_TRIES):
            old = branch_tip(repository, branch) or NO_OID
            # The gate is asked again with the commit itself; but who may not come through shall leave no objects.
            _require_passage(database, actor, place, branch, old)
            begin = _beginning(repository, branch, old, start)
            made = build(read_commits(repository, [begin])[0] if begin else None)
            try:
                change_refs(database, repository, actor, place.project, [RefUpdate(ref, old, made)])
            except Conflict:
                continue
            return read_commits(repository, [made])[0]
    raise Conflict("Others change this branch all the time. Please try again.")


def _beginning(repository: Repository, branch: str, tip: str, start: Start) -> str | None:
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
    begin = commit_id(repository, start.oid) if start.oid else branch_tip(repository, start.branch)
    if begin is None:
        raise Invalid(start_sha=["is not a commit of this repository"]) if start.oid else Invalid(_MISSING_BRANCH)
    return begin


def _require_passage(database: Database, actor: Actor, place: Place, branch: str, tip: str) -> None:
    """Raise ``Denied`` for who may not move a branch, wherever to, and ``Invalid`` where none can be called so."""
    trouble = ref_trouble(branch) if tip == NO_OID else None
    if trouble is not None:
        raise Invalid(branch=[trouble])

    def look(db: Connection) -> Ground:
        here, project = standing_of(actor, place.project.id)(db)
        return Ground(actor, here, project, branch_rules(db, project.id), (), by_git=False)

    update = RefUpdate(f"refs/heads/{branch}", tip, _SOMEWHERE)
    denied = refusal(database.read(look), update, lambda _: False)
    if denied is not None:
        raise Denied(denied)


def _require_unchanged(repository: Repository, parent: Commit, edits: Sequence[Edit]) -> None:
    """Raise where a file was changed by a later commit than the caller knows of."""
    for edit in edits:
        if not edit.last_commit_id:
            continue
        for path in spellings(edit.action.previous_path or edit.action.path):
            if entry_at(repository, parent.oid, path) is None:
                continue
            if last_commit_id(repository, parent.oid, path) != edit.last_commit_id.lower():
                raise Invalid("You are attempting to update a file that has changed since you started editing it.")
            break


def _caller(database: Database, actor: Actor) -> Signature:
    email = database.read(lambda db: find_user(db, actor.user_id).email)
    return Signature(actor.name or actor.username, email, int(moment(database.clock()).timestamp()), 0)
