"""Changed files of a diff as a tree of folders, in one list of rows."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.web.code.diffs import DiffFile

MAX_DEPTH = 8
"""Deeper folders are not indented further."""


class DiffTreeRow(NamedTuple):
    """Folder or file of the tree."""

    depth: int
    name: str
    file: DiffFile | None = None
    """None for a folder."""


class _TreeFolder:
    def __init__(self) -> None:
        self.folders: dict[str, _TreeFolder] = {}
        self.files: list[tuple[str, DiffFile]] = []


def diff_tree(files: Sequence[DiffFile]) -> list[DiffTreeRow]:
    """Return the rows of the tree: folders before files; folders with one subfolder and no file share its row."""
    root = _TreeFolder()
    for file in files:
        *folders, name = file.new_path.split("/")
        folder = root
        for part in folders:
            folder = folder.folders.setdefault(part, _TreeFolder())
        folder.files.append((name, file))
    return _rows(root, 0)


def _rows(folder: _TreeFolder, depth: int) -> list[DiffTreeRow]:
    rows: list[DiffTreeRow] = []
    for first, outer in sorted(folder.folders.items()):
        name, inner = first, outer
        while not inner.files and len(inner.folders) == 1:
            part, inner = next(iter(inner.folders.items()))
            name = f"{name}/{part}"
        rows += [DiffTreeRow(min(depth, MAX_DEPTH), name), *_rows(inner, depth + 1)]
    return rows + [DiffTreeRow(min(depth, MAX_DEPTH), name, file) for name, file in sorted(folder.files, key=_name)]


def _name(entry: tuple[str, DiffFile]) -> str:
    return entry[0]
