"""Files that match the path patterns of artifacts and caches."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

_MAX_CACHED_PATTERNS = 256
_WILDCARD = re.compile(r"[*?\[{]")


def matching_files(root: Path, patterns: Iterable[str], exclude: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the files below the patterns, relative to the root, and the patterns without any file.

    A pattern that matches a directory includes everything in it. Files outside of the root never match.
    """
    excluded = [path_expression(pattern) for pattern in map(_normalized, exclude) if pattern is not None]
    found: dict[str, None] = {}
    unmatched = []
    for pattern in patterns:
        normalized = _normalized(pattern, root)
        matches = [] if normalized is None else list(_matches(root, normalized))
        if not matches:
            unmatched.append(pattern)
        for path in matches:
            if not any(expression.fullmatch(path) for expression in excluded):
                found[path] = None
    return sorted(found), unmatched


@lru_cache(maxsize=_MAX_CACHED_PATTERNS)
def path_expression(pattern: str) -> re.Pattern[str]:
    """Translate a pattern: ``*`` and ``?`` match within a directory, ``**`` any number of directories."""
    parts = []
    position = 0
    while position < len(pattern):
        if pattern.startswith("**/", position):
            parts.append("(?:[^/]+/)*")
            position += 3
        elif pattern.startswith("**", position):
            parts.append(".*")
            position += 2
        else:
            part, position = _token(pattern, position)
            parts.append(part)
    return re.compile("".join(parts), re.DOTALL)


def _token(pattern: str, position: int) -> tuple[str, int]:
    character = pattern[position]
    if character == "*":
        return "[^/]*", position + 1
    if character == "?":
        return "[^/]", position + 1
    if character == "[":
        end = pattern.find("]", position + 2)
        if end > 0:
            content = pattern[position + 1 : end].replace("\\", "\\\\")
            negated = content[:1] in "!^"
            return f"[{'^/' if negated else ''}{content[1:] if negated else content}]", end + 1
    if character == "{":
        end = pattern.find("}", position)
        if end > 0:
            choices = pattern[position + 1 : end].split(",")
            return "(?:" + "|".join(path_expression(choice).pattern for choice in choices) + ")", end + 1
    return re.escape(character), position + 1


def _normalized(pattern: str, root: Path | None = None) -> str | None:
    """Return a pattern relative to the root; None if it leads out of it."""
    if root is not None and pattern.startswith("/"):
        try:
            pattern = Path(pattern).relative_to(root).as_posix()
        except ValueError:
            return None
    parts: list[str] = []
    for part in pattern.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _matches(root: Path, pattern: str) -> Iterator[str]:
    if pattern == "":
        yield from _files_below(root, "")
        return
    expression = path_expression(pattern)
    literal = _literal_folder(pattern)
    if not (root / literal).resolve().is_relative_to(root.resolve()):
        return
    if _WILDCARD.search(pattern) is None:
        yield from _file_or_folder(root, pattern)
        return
    for folder, folders, files in os.walk(root / literal):
        relative = Path(folder).relative_to(root).as_posix()
        prefix = "" if relative == "." else f"{relative}/"
        folders[:] = [name for name in folders if prefix + name != ".git"]
        matched = {name for name in (*folders, *files) if expression.fullmatch(prefix + name)}
        for name in matched:
            yield from _file_or_folder(root, prefix + name)
        # The contents of a matched directory are included already.
        folders[:] = [name for name in folders if name not in matched]


def _literal_folder(pattern: str) -> str:
    """Return the beginning of a pattern without wildcards, up to a directory."""
    parts = pattern.split("/")[:-1]
    end = next((index for index, part in enumerate(parts) if _WILDCARD.search(part)), len(parts))
    return "/".join(parts[:end])


def _file_or_folder(root: Path, path: str) -> Iterator[str]:
    full = root / path
    if full.is_symlink() or full.is_file():
        yield path
    elif full.is_dir():
        yield from _files_below(full, f"{path}/")


def _files_below(folder: Path, prefix: str) -> Iterator[str]:
    for current, folders, files in os.walk(folder):
        relative = Path(current).relative_to(folder).as_posix()
        inner = prefix if relative == "." else f"{prefix}{relative}/"
        if not prefix and ".git" in folders and relative == ".":
            folders.remove(".git")
        linked = [name for name in folders if (Path(current) / name).is_symlink()]
        yield from (inner + name for name in (*files, *linked))
