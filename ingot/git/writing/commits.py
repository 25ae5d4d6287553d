"""Commits created from a list of file actions, without a work tree."""

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
"""Maximum cost of all actions of a commit: a caller can send millions, and other requests wait meanwhile."""
_STEPS_PER_ACTION = 10
"""Added to one step per path segment."""


class TreeAction(msgspec.Struct, frozen=True):
    """Change of one file; content or mode that are None stay unchanged."""

    verb: Literal["create", "update", "move", "delete", "chmod"]
    path: str
    previous_path: str = ""
    content: bytes | None = None
    executable: bool | None = None


class InvalidAction(Exception):
    """An action does not fit the tree; the text is shown to the caller."""


class NoSuchFile(InvalidAction):
    """The file does not exist; a folder at the path raises ``InvalidAction`` instead."""


class CommitMetadata(msgspec.Struct, frozen=True):
    """Message, author and committer of a commit."""

    message: str
    author: Signature
    committer: Signature


def commit_actions(
    repository: Repository,
    parent: Commit | None,
    actions: Sequence[TreeAction],
    metadata: CommitMetadata,
    *,
    may_be_empty: bool = True,
) -> str:
    """Write a commit that applies all actions in order to its parent; return its id.

    No ref points at it yet. Raise ``InvalidAction`` before anything is written.
    """
    if sum(_steps(action) for action in actions) > MAX_STEPS:
        raise InvalidAction(
            "The commit has too many actions, or too deep paths. Push it, or split it into several commits."
        )
    for action in actions:
        _check_paths(action)
    builder = TreeBuilder(repository, parent.tree if parent else None)
    objects = NewObjects()
    for action in actions:
        try:
            _APPLY[action.verb](builder, objects, action)
        except PathConflict as error:
            raise InvalidAction("A parent of the path is a file, not a directory") from error
    tree = builder.finish(objects)
    if not may_be_empty and parent is not None and tree == parent.tree:
        raise InvalidAction("The file has this content already, so there is nothing to commit")
    commit = objects.add("commit", commit_content(tree, [parent.oid] if parent else [], metadata))
    try:
        objects.store(repository, checked=any(is_git_special_file(action.path) for action in actions))
    except InvalidObjects as error:
        raise InvalidAction("git rejects the content of a file that it reads itself, such as .gitmodules") from error
    return commit


def write_commit(repository: Repository, tree: str, parents: Sequence[str], metadata: CommitMetadata) -> str:
    """Write a commit of an existing tree; return its id."""
    objects = NewObjects()
    commit = objects.add("commit", commit_content(tree, parents, metadata))
    objects.store(repository)
    return commit


def commit_content(tree: str, parents: Sequence[str], metadata: CommitMetadata) -> bytes:
    """Return the raw content of a commit object."""
    lines = [
        f"tree {tree}",
        *(f"parent {parent}" for parent in parents),
        f"author {signature_line(metadata.author)}",
        f"committer {signature_line(metadata.committer)}",
        "",
        metadata.message,
    ]
    return "\n".join(lines).encode(errors="replace")


def _steps(action: TreeAction) -> int:
    return _STEPS_PER_ACTION + action.path.count("/") + action.previous_path.count("/")


def _check_paths(action: TreeAction) -> None:
    for path in (action.path, action.previous_path) if action.verb == "move" else (action.path,):
        error = new_path_error(path)
        if error is not None:
            raise InvalidAction(f"The path {error}")


def _create(builder: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:
    path = _unused_path(builder, action.path)
    builder.put(path, TreeLeaf(EXECUTABLE if action.executable else FILE, objects.add("blob", action.content or b"")))


def _update(builder: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:
    path, leaf = _existing_leaf(builder, action.path)
    builder.put(path, _changed_leaf(leaf, objects, action))


def _move(builder: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:
    previous, leaf = _existing_leaf(builder, action.previous_path)
    if action.path == action.previous_path:
        raise InvalidAction(_EXISTS)
    builder.remove(previous)
    builder.put(_unused_path(builder, action.path), _changed_leaf(leaf, objects, action))


def _delete(builder: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:  # noqa: ARG001 - All actions have this signature.
    builder.remove(_existing_leaf(builder, action.path)[0])


def _chmod(builder: TreeBuilder, objects: NewObjects, action: TreeAction) -> None:
    path, leaf = _existing_leaf(builder, action.path)
    if leaf.mode in (LINK, SUBMODULE):
        raise InvalidAction("Only the executable bit of a regular file can be changed")
    builder.put(path, _changed_leaf(leaf, objects, action))


_APPLY: dict[str, Callable[[TreeBuilder, NewObjects, TreeAction], None]] = {
    "create": _create,
    "update": _update,
    "move": _move,
    "delete": _delete,
    "chmod": _chmod,
}


def _unused_path(builder: TreeBuilder, path: str) -> bytes:
    """Return the bytes of a path that must not exist yet."""
    raw = path.encode()
    existing = builder.find(raw)
    if existing is not None:
        raise InvalidAction(_FOLDER_EXISTS if existing.is_folder else _EXISTS)
    return raw


def _existing_leaf(builder: TreeBuilder, path: str) -> tuple[bytes, TreeLeaf]:
    """Return the existing file at a path, and the bytes of its name, which may be Latin-1."""
    error_type: type[InvalidAction] = NoSuchFile
    for raw in path_encodings(path):
        leaf = builder.find(raw)
        if leaf is not None and not leaf.is_folder:
            return raw, leaf
        error_type = error_type if leaf is None else InvalidAction
    raise error_type(_MISSING)


def _changed_leaf(leaf: TreeLeaf, objects: NewObjects, action: TreeAction) -> TreeLeaf:
    """Return the entry with the content and mode of an action; a symbolic link stays one."""
    if leaf.mode == SUBMODULE:
        if action.content is not None:
            raise InvalidAction("The content of a submodule cannot be changed")
        return leaf
    if action.content is not None:
        leaf = leaf._replace(oid=objects.add("blob", action.content))
    if action.executable is not None and leaf.mode != LINK:
        leaf = leaf._replace(mode=EXECUTABLE if action.executable else FILE)
    return leaf
