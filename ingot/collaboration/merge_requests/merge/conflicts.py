"""Resolution of merge conflicts: a commit that merges the target into the source branch, file by file as chosen."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ingot.collaboration.merge_requests.merge.rebase import SourceContext, load_source_context
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Invalid
from ingot.git.core.repository import Repository
from ingot.git.history.ancestry import is_ancestor
from ingot.git.history.commits import branch_tip, commit_or_none, decode_text
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.commits import CommitMetadata
from ingot.git.writing.merge_conflicts import (
    CannotResolve,
    ConflictedFile,
    ConflictHunk,
    Side,
    commit_resolution,
    conflicts_between,
    merged_hunks,
    resolved_text,
)
from ingot.git.writing.merge_request_commits import copy_commit
from ingot.git.writing.merge_trees import MergeConflict
from ingot.git.writing.ref_updates import RefUpdate
from ingot.git.writing.tree_builder import TreeLeaf
from ingot.repositories.ref_changes.apply import change_refs
from ingot.repositories.ref_changes.branch_queue import branch_queue

MAX_FILES = 100
"""Number of files with conflicts that can be resolved on a page."""
_MAX_NAMED_FILES = 10
_MOVED = (
    "The source branch has changed since you opened this page. Nothing was committed. Check your choices against the "
    "new conflicts and commit again."
)
_NO_CONFLICTS = "The merge request has no conflicts."
_OID = re.compile(r"[0-9a-f]{40}")
_MARKERS = ("<<<<<<< ", ">>>>>>> ")


class FileConflict(NamedTuple):
    """A file with conflicts; ``hunks`` is None if only a whole version can be chosen."""

    path: str
    versions: ConflictedFile
    hunks: tuple[ConflictHunk, ...] | None


class BranchConflicts(NamedTuple):
    """The conflicts between two commits."""

    head_oid: str
    """The head of the source branch."""
    target_oid: str
    source_branch: str
    target_branch: str
    files: tuple[FileConflict, ...]

    @property
    def commit_message(self) -> str:
        """Return the proposed message."""
        names = [file.path for file in self.files[:_MAX_NAMED_FILES]]
        others = len(self.files) - len(names)
        listed = ", ".join([*names, f"{others} more"] if others else names)
        return f"Merge branch '{self.target_branch}' into '{self.source_branch}'\n\nResolve conflicts in {listed}\n"


class FileResolution(NamedTuple):
    """The chosen result for a file: new content, one of its versions, or a side for each conflict."""

    path: str
    content: str | None = None
    side: Side | None = None
    sections: Mapping[str, Side] = {}


class ConflictResolution(NamedTuple):
    """The chosen results, for the commits that the user has seen."""

    head_oid: str
    target_oid: str
    message: str
    files: Sequence[FileResolution]


def list_conflicts(
    database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest
) -> BranchConflicts:
    """Return the conflicts of an open merge request; raise ``Denied`` unless the caller may push to its source."""
    context = database.read(partial(load_source_context, actor=actor, merge_request_id=merge_request.id))
    target = store.open(context.target.repository_key)
    tip = branch_tip(target, context.merge_request.target_branch)
    if tip is None:
        raise Invalid("The target branch does not exist.")
    return _conflicts(target, context.merge_request, context.merge_request.head_oid, tip)


def _conflicts(repository: Repository, merge_request: MergeRequest, head: str, tip: str) -> BranchConflicts:
    try:
        files = conflicts_between(repository, head, tip)
    except MergeConflict:
        raise Invalid("The branches have no common history. Resolve the conflict locally.") from None
    if len(files) > MAX_FILES:
        raise Invalid(f"There are conflicts in more than {MAX_FILES} files. Resolve them locally.")
    if any(file.ours is None and file.theirs is None for file in files) or any(map(_has_one_version, files)):
        raise Invalid("Files were renamed on both sides. Resolve the conflict locally.")
    conflicts = [FileConflict(decode_text(file.path), file, merged_hunks(repository, file)) for file in files]
    return BranchConflicts(head, tip, merge_request.source_branch, merge_request.target_branch, tuple(conflicts))


def _has_one_version(file: ConflictedFile) -> bool:
    return file.base is None and (file.ours is None) != (file.theirs is None)


def resolve_conflicts(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    merge_request: MergeRequest,
    resolution: ConflictResolution,
) -> str:
    """Commit a merge of the target into the source branch with the chosen results; return the id of the commit.

    Raises ``Conflict`` if the source branch has moved since the user saw it, and ``Invalid`` if a conflict is left. The
    change of the ref checks the caller's permission, as for every other change of that branch.
    """
    context = database.read(partial(load_source_context, actor=actor, merge_request_id=merge_request.id))
    current = context.merge_request
    source, target = store.open(context.source.repository_key), store.open(context.target.repository_key)
    if not resolution.message.strip():
        raise Invalid(commit_message=["can't be blank"])
    with branch_queue.turn(context.source.id, current.source_branch):
        head = branch_tip(source, current.source_branch)
        if head is None or head != resolution.head_oid:
            raise Conflict(_MOVED)
        tip = _seen_tip(target, current, resolution)
        if source.path != target.path:
            copy_commit(target, source, tip)
        oid = _commit(source, context, tip, resolution)
        try:
            update = RefUpdate(f"refs/heads/{current.source_branch}", head, oid)
            change_refs(database, source, actor, context.source, [update])
        except Conflict:
            raise Conflict(_MOVED) from None
    return oid


def _seen_tip(target: Repository, merge_request: MergeRequest, resolution: ConflictResolution) -> str:
    """Return the target commit that the user has seen; the branch may have new commits since."""
    tip = branch_tip(target, merge_request.target_branch)
    seen = resolution.target_oid
    known = _OID.fullmatch(seen) and commit_or_none(target, seen) is not None
    if tip is None or not known or not is_ancestor(target, seen, tip):
        raise Conflict("The target branch has changed. Nothing was committed. Reload the page and try again.")
    return seen


def _commit(source: Repository, context: SourceContext, tip: str, resolution: ConflictResolution) -> str:
    conflicts = _conflicts(source, context.merge_request, resolution.head_oid, tip)
    if not conflicts.files:
        raise Invalid(_NO_CONFLICTS)
    chosen = {file.path: file for file in resolution.files}
    metadata = CommitMetadata(resolution.message, context.caller, context.caller)
    try:
        resolved = {file.versions.path: _resolved(file, chosen.get(file.path)) for file in conflicts.files}
        return commit_resolution(source, resolution.head_oid, tip, resolved, metadata)
    except CannotResolve as error:
        raise Invalid(str(error)) from None


def _resolved(file: FileConflict, choice: FileResolution | None) -> TreeLeaf | bytes | None:
    if choice is None:
        raise CannotResolve(f"{file.path} has conflicts that are not resolved.")
    if choice.content is not None:
        if file.hunks is None:
            raise CannotResolve(f"{file.path} cannot be edited here. Choose one of its versions.")
        if any(line.startswith(_MARKERS) for line in choice.content.split("\n")):
            raise CannotResolve(f"{file.path} still contains conflict markers.")
        text = choice.content
        # Browsers send one kind of line ending; the file keeps its own.
        return (text.replace("\n", "\r\n") if _has_carriage_returns(file) else text).encode()
    if choice.side is not None:
        return file.versions.side(choice.side)
    if file.hunks is None:
        raise CannotResolve(f"Choose one of the versions of {file.path}.")
    return resolved_text(file.hunks, choice.sections)


def _has_carriage_returns(file: FileConflict) -> bool:
    lines = [line for hunk in file.hunks or () for line in hunk.ours]
    return bool(lines) and all(line.endswith("\r\n") for line in lines if line.endswith("\n"))


def marked_text(conflict: FileConflict, source_branch: str, target_branch: str) -> str:
    """Return the file with conflict markers, for editing."""
    pieces: list[str] = []
    for hunk in conflict.hunks or ():
        if not hunk.conflict:
            pieces.extend(hunk.ours)
            continue
        ours, theirs = (_ended("".join(lines)) for lines in (hunk.ours, hunk.theirs))
        pieces.append(f"<<<<<<< {source_branch}\n{ours}=======\n{theirs}>>>>>>> {target_branch}\n")
    return "".join(pieces)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
