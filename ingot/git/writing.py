"""Commits made without a work tree: a list of actions on files becomes a tree, and that a commit."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from ingot.git.commits import Commit, Signature
from ingot.git.drafts import FILE, LINK, MODULE, PROGRAM, Draft, InTheWay, Leaf
from ingot.git.new_paths import is_read_by_git, new_path_trouble
from ingot.git.objects import NewObjects, UnsoundObjects, person_line
from ingot.git.paths import spellings
from ingot.git.repository import Repository

_EXISTS = "A file with this name already exists"
_FOLDER_EXISTS = "A directory with this name already exists"
_MISSING = "A file with this name doesn't exist"
MOST_STEPS = 500_000
"""What all actions of a commit may take together: a caller can send many millions, and others wait meanwhile."""
_STEPS_OF_AN_ACTION = 10
"""Besides one for each part of its paths."""


class Action(msgspec.Struct, frozen=True):
    """What to do with one file; a content or mode that is not said stays as it is."""

    verb: Literal["create", "update", "move", "delete", "chmod"]
    path: str
    previous_path: str = ""
    content: bytes | None = None
    executable: bool | None = None


class CannotApply(Exception):
    """An action does not fit what is there, or should not be; its text says why."""


class NoSuchFile(CannotApply):
    """There is nothing at the path; a folder there is another thing than a file that is gone."""


class Words(msgspec.Struct, frozen=True):
    """What a commit says besides its files."""

    message: str
    author: Signature
    committer: Signature


def commit_actions(
    repository: Repository, parent: Commit | None, actions: Sequence[Action], words: Words, *, may_be_empty: bool = True
) -> str:
    """Write a commit in which all actions are done, one after the other, upon its parent; gives its id.

    No reference points at it yet. Raises ``CannotApply`` before anything is written.
    """
    if sum(_steps(action) for action in actions) > MOST_STEPS:
        raise CannotApply("The commit has too many actions, or too deep paths. Push it, or make several.")
    for action in actions:
        _check_paths(action)
    draft = Draft(repository, parent.tree if parent else None)
    objects = NewObjects()
    for action in actions:
        try:
            _APPLY[action.verb](draft, objects, action)
        except InTheWay as error:
            raise CannotApply("A part of the path is a file, so nothing can lie below it") from error
    tree = draft.finish(objects)
    if not may_be_empty and parent is not None and tree == parent.tree:
        raise CannotApply("The file has this content already, so there is nothing to commit")
    commit = objects.add("commit", commit_content(tree, [parent.oid] if parent else [], words))
    try:
        objects.store(repository, checked=any(is_read_by_git(action.path) for action in actions))
    except UnsoundObjects as error:
        raise CannotApply("git refuses the content of a file that it would act upon") from error
    return commit


def write_commit(repository: Repository, tree: str, parents: Sequence[str], words: Words) -> str:
    """Write a commit of a tree that is there; gives its id."""
    objects = NewObjects()
    commit = objects.add("commit", commit_content(tree, parents, words))
    objects.store(repository)
    return commit


def commit_content(tree: str, parents: Sequence[str], words: Words) -> bytes:
    """A commit as git stores it."""
    lines = [
        f"tree {tree}",
        *(f"parent {parent}" for parent in parents),
        f"author {person_line(words.author)}",
        f"committer {person_line(words.committer)}",
        "",
        words.message,
    ]
    return "\n".join(lines).encode(errors="replace")


def _steps(action: Action) -> int:
    return _STEPS_OF_AN_ACTION + action.path.count("/") + action.previous_path.count("/")


def _check_paths(action: Action) -> None:
    for path in (action.path, action.previous_path) if action.verb == "move" else (action.path,):
        trouble = new_path_trouble(path)
        if trouble is not None:
            raise CannotApply(f"The path {trouble}")


def _create(draft: Draft, objects: NewObjects, action: Action) -> None:
    path = _free(draft, action.path)
    draft.put(path, Leaf(PROGRAM if action.executable else FILE, objects.add("blob", action.content or b"")))


def _update(draft: Draft, objects: NewObjects, action: Action) -> None:
    path, leaf = _existing(draft, action.path)
    draft.put(path, _changed(leaf, objects, action))


def _move(draft: Draft, objects: NewObjects, action: Action) -> None:
    previous, leaf = _existing(draft, action.previous_path)
    if action.path == action.previous_path:
        raise CannotApply(_EXISTS)
    draft.remove(previous)
    draft.put(_free(draft, action.path), _changed(leaf, objects, action))


def _delete(draft: Draft, objects: NewObjects, action: Action) -> None:  # noqa: ARG001 - All actions take the same three.
    draft.remove(_existing(draft, action.path)[0])


def _chmod(draft: Draft, objects: NewObjects, action: Action) -> None:
    path, leaf = _existing(draft, action.path)
    if leaf.mode in (LINK, MODULE):
        raise CannotApply("Only a file can be made executable, or stop being so")
    draft.put(path, _changed(leaf, objects, action))


_APPLY: dict[str, Callable[[Draft, NewObjects, Action], None]] = {
    "create": _create,
    "update": _update,
    "move": _move,
    "delete": _delete,
    "chmod": _chmod,
}


def _free(draft: Draft, path: str) -> bytes:
    """The bytes of a path at which nothing lies."""
    raw = path.encode()
    found = draft.find(raw)
    if found is not None:
        raise CannotApply(_FOLDER_EXISTS if found.is_folder else _EXISTS)
    return raw


def _existing(draft: Draft, path: str) -> tuple[bytes, Leaf]:
    """What lies at a path, and the bytes of that; its name may be one that is only shown as this text."""
    missing: type[CannotApply] = NoSuchFile
    for spelling in spellings(path):
        found = draft.find(spelling)
        if found is not None and not found.is_folder:
            return spelling, found
        missing = missing if found is None else CannotApply
    raise missing(_MISSING)


def _changed(leaf: Leaf, objects: NewObjects, action: Action) -> Leaf:
    """A file with what an action says of its content and mode; a link stays one, whatever it points at then."""
    if leaf.mode == MODULE:
        if action.content is not None:
            raise CannotApply("A submodule has no content that could be changed here")
        return leaf
    if action.content is not None:
        leaf = leaf._replace(oid=objects.add("blob", action.content))
    if action.executable is not None and leaf.mode != LINK:
        leaf = leaf._replace(mode=PROGRAM if action.executable else FILE)
    return leaf
