"""Commits made without a work tree: a list of actions on files becomes a tree, and that a commit."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from ingot.git.core.paths import path_encodings
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, Signature
from ingot.git.writing.new_objects import InvalidObjects, NewObjects, signature_line
from ingot.git.writing.path_rules import is_git_special_file, new_path_error
from ingot.git.writing.tree_builder import EXECUTABLE, FILE, LINK, SUBMODULE, PathConflict, TreeBuilder, TreeLeaf

_EXISTS = "A file with this name already exists"
_FOLDER_EXISTS = "A directory with this name already exists"
_MISSING = "A file with this name doesn't exist"
MAX_STEPS = 500_000
"""What all actions of a commit may take together: a caller can send many millions, and others wait meanwhile."""
_STEPS_PER_ACTION = 10
"""Besides one for each part of its paths."""


class TreeAction(msgspec.Struct, frozen=True):
    """What to do with one file; a content or mode that is not said stays as it is."""

    verb: Literal["create", "update", "move", "delete", "chmod"]
    path: str
    previous_path: str = ""
    content: bytes | None = None
    executable: bool | None = None


class InvalidAction(Exception):
    """An action does not fit what is there, or should not be; its text says why."""


class NoSuchFile(InvalidAction):
    """There is nothing at the path; a folder there is another thing than a file that is gone."""


class CommitMetadata(msgspec.Struct, frozen=True):
    """What a commit says besides its files."""

    message: str
    author: Signature
    committer: Signature


def commit_actions(
    repository: Repository,
    parent: Commit | None,
    actions: Sequence[TreeAction],
    words: CommitMetadata,
    *,
    may_be_empty: bool = True,
) -> str:
    """Write a commit in which all actions are done, one after the other, upon its parent; gives its id.

    No reference points at it yet. Raises ``InvalidAction`` before anything is written.
    """
    if sum(_steps(action) for action in actions) > MAX_STEPS:
        raise InvalidAction("The commit has too many actions, or too deep paths. Push it, or make several.")
    for action in actions:
        _check_paths(action)
    draft = TreeBuilder(repository, parent.tree if parent else None)
    objects = NewObjects()
    for action in actions:
        try:
            _APPLY[action.verb](draft, objects, action)
        except PathConflict as error:
            raise InvalidAction("A part of the path is a file, so nothing can lie below it") from error
    tree = draft.finish(objects)
    if not may_be_empty and parent is not None and tree == parent.tree:
        raise InvalidAction("The file has this content already, so there is nothing to commit")
    commit = objects.add("commit", commit_content(tree, [parent.oid] if parent else [], words))
    try:
        objects.store(repository, checked=any(is_git_special_file(action.path) for action in actions))
    except InvalidObjects as error:
        raise InvalidAction("git refuses the content of a file that it would act upon") from error
    return commit


def write_commit(repository: Repository, tree: str, parents: Sequence[str], words: CommitMetadata) -> str:
    """Write a commit of a tree that is there; gives its id."""
    objects = NewObjects()
    commit = objects.add("commit", commit_content(tree, parents, words))
    objects.store(repository)
    return commit


def commit_content(tree: str, parents: Sequence[str], words: CommitMetadata) -> bytes:
    """A commit as git stores it."""
    lines = [
        f"tree {tree}",
        *(f"parent {parent}" for parent in parents),
        f"author {signature_line(words.author)}",
        f"committer {signature_line(words.committer)}",
        "",
        words.message,
    ]
    return "\n".join(lines).encode(errors="replace")


def _steps(action: TreeAction) -> int:
    return _STEPS_PER_ACTION + action.path.count("/") + action.previous_path.count("/")


def _check_paths(action: TreeAction) -> None:
    for path in (action.path, action.previous_path) if action.verb == "move" else (action.path,):
        trouble = new_path_error(path)
        if trouble is not None:
            raise InvalidAction(f"The path {trouble}")


def _create(draft: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:
    path = _unused_path(draft, action.path)
    draft.put(path, TreeLeaf(EXECUTABLE if action.executable else FILE, objects.add("blob", action.content or b"")))


def _update(draft: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:
    path, leaf = _existing_leaf(draft, action.path)
    draft.put(path, _changed_leaf(leaf, objects, action))


def _move(draft: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:
    previous, leaf = _existing_leaf(draft, action.previous_path)
    if action.path == action.previous_path:
        raise InvalidAction(_EXISTS)
    draft.remove(previous)
    draft.put(_unused_path(draft, action.path), _changed_leaf(leaf, objects, action))


def _delete(draft: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:  # noqa: ARG001 - All actions take the same three.
    draft.remove(_existing_leaf(draft, action.path)[0])


def _chmod(draft: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:
    path, leaf = _existing_leaf(draft, action.path)
    if leaf.mode in (LINK, SUBMODULE):
        raise InvalidAction("Only a file can be made executable, or stop being so")
    draft.put(path, _changed_leaf(leaf, objects, action))


_APPLY: dict[str, Callable[[TreeBuilder, NewObjects, TreeAction], None]] = {
    "create": _create,
    "update": _update,
    "move": _move,
    "delete": _delete,
    "chmod": _chmod,
}


def _unused_path(draft: TreeBuilder, path: str) -> bytes:
    """The bytes of a path at which nothing lies."""
    raw = path.encode()
    found = draft.find(raw)
    if found is not None:
        raise InvalidAction(_FOLDER_EXISTS if found.is_folder else _EXISTS)
    return raw


def _existing_leaf(draft: TreeBuilder, path: str) -> tuple[bytes, TreeLeaf]:
    """What lies at a path, and the bytes of that; its name may be one that is only shown as this text."""
    missing: type[InvalidAction] = NoSuchFile
    for spelling in path_encodings(path):
        found = draft.find(spelling)
        if found is not None and not found.is_folder:
            return spelling, found
        missing = missing if found is None else InvalidAction
    raise missing(_MISSING)


def _changed_leaf(leaf: TreeLeaf, objects: NewObjects, action: TreeAction) -> TreeLeaf:
    """A file with what an action says of its content and mode; a link stays one, whatever it points at then."""
    if leaf.mode == SUBMODULE:
        if action.content is not None:
            raise InvalidAction("A submodule has no content that could be changed here")
        return leaf
    if action.content is not None:
        leaf = leaf._replace(oid=objects.add("blob", action.content))
    if action.executable is not None and leaf.mode != LINK:
        leaf = leaf._replace(mode=EXECUTABLE if action.executable else FILE)
    return leaf
