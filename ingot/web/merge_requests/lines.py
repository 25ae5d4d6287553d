"""Discussions about lines: where in a difference each stands, and the lines that it is about."""

from collections import defaultdict
from functools import lru_cache
from typing import Any

import msgspec
from markupsafe import Markup

from ingot.git.commits import decoded
from ingot.git.diffs import diff_between
from ingot.git.faults import GitFailed
from ingot.markup.highlighting import language_of
from ingot.merge_requests.tables import Version
from ingot.web.code.patches import Hunk, hunks_of, unified_rows
from ingot.web.discussions.reading import Talk, Thread
from ingot.web.merge_requests.frame import Frame

_LINES_BEFORE = 3
_MOST_CONTEXTS = 50
_LONGEST_COLORED = 20_000

Key = tuple[str, int | None, int | None]


class Context(msgspec.Struct, frozen=True):
    """The lines that a discussion is about."""

    path: str
    line: int | None
    rows: Markup
    outdated: bool
    """Whether what was pushed since has changed them."""


def slots_of(thread: Thread, version: Version) -> dict[Key, list[Talk]]:
    """The discussions about lines of a version, by the line."""
    slots: defaultdict[Key, list[Talk]] = defaultdict(list)
    for talk in thread.talks:
        position = position_of(talk)
        if position is not None and position.get("head_sha") == version.head_oid:
            slots[position["new_path"], position.get("old_line"), position.get("new_line")].append(talk)
    return slots


def position_of(talk: Talk) -> dict[str, Any] | None:
    """The line that a discussion is about."""
    position = talk.notes[0].view.position
    return position if isinstance(position, dict) else None


def contexts_of(frame: Frame, thread: Thread) -> dict[str, Context]:
    """What discussions are about that are about lines, by their names."""
    contexts: dict[str, Context] = {}
    for talk in thread.talks:
        position = position_of(talk)
        if position is not None and len(contexts) < _MOST_CONTEXTS:
            contexts[talk.id] = _context(frame, talk, position)
    return contexts


def _context(frame: Frame, talk: Talk, position: dict[str, Any]) -> Context:
    path, old, new = position["new_path"], position.get("old_line"), position.get("new_line")
    head = frame.version.head_oid if frame.version else None
    diff = _diff(frame, position.get("base_sha"), position["head_sha"], path)
    rows = _rows(diff, path, old, new, f"c{talk.id[:10]}") if diff else ""
    return Context(path, new or old, Markup(rows), position["head_sha"] != head)  # noqa: S704 - The rows are escaped.


def _diff(frame: Frame, base: str | None, head: str, path: str) -> str:
    try:
        changes = diff_between(frame.repository, base, head).changes
    except GitFailed:
        return ""
    return next((change.diff for change in changes if decoded(change.new_path) == path), "")


@lru_cache(512)
def _rows(diff: str, path: str, old: int | None, new: int | None, anchor: str) -> str:
    language = language_of(path) if len(diff) <= _LONGEST_COLORED else ""
    for hunk in hunks_of(diff, language):
        for place, line in enumerate(hunk.lines):
            if line.key == (old, new):
                shown = hunk.lines[max(0, place - _LINES_BEFORE) : place + 1]
                return "".join(row.html for row in unified_rows([Hunk(hunk.heading, shown)], anchor, "#")[1:])
    return ""
