"""What is said about a commit: below the lines that it is about, and about all of it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ingot.db.connection import Connection
from ingot.notes.queries import comments_on_lines
from ingot.notes.tables import Note
from ingot.repository.commits.views import DiffView
from ingot.web.code.diffs import Code, ShownDiff, shown_diff
from ingot.web.code.patches import Key, keys_of
from ingot.web.discussions.ground import COMMIT, ground_in
from ingot.web.discussions.reading import Talk, Thread, thread_of
from ingot.web.projects.place import Place

FORM = "form"
"""Stands below the line that somebody wants to write about."""
Line = tuple[str, int | None, int | None]


class Discussed(NamedTuple):
    """The difference that a commit makes, with what is said about its lines."""

    diff: ShownDiff
    thread: Thread
    """What is said about none of them."""
    at: Line | None
    """The line that somebody wants to write about."""
    back: str
    """The page to come back to."""


def discussed(place: Place, db: Connection, oid: str, items: Sequence[DiffView], at: Any) -> Discussed:
    """A commit's difference; ``at`` names a line to write about."""
    visit, ground = place.visit, ground_in(place, COMMIT, oid)
    thread = thread_of(ground)
    slots, elsewhere = _placed(thread, comments_on_lines(db, place.project.id, oid), items)
    wanted = _line(items, at) if at and thread.may_write else None
    if wanted is not None and not visit.fragment:
        slots.setdefault(wanted, []).append(FORM)
    code = Code(place.url, oid)
    diff = shown_diff(items, visit.query, slots=slots, talk="changed" if thread.may_write else "no", code=code)
    back = f"{ground.url}{diff.split_address if diff.split else diff.unified_address}".removesuffix("?")
    return Discussed(diff, msgspec.structs.replace(thread, talks=elsewhere), wanted, back)


def _line(items: Sequence[DiffView], name: Any) -> Line | None:
    """The line of this name, if it is one that changed: comments on others stand nowhere."""
    found = shown_diff(items, {"first": str(len(items))}).line_at(name)
    return found if found is not None and (found[1] is None) is not (found[2] is None) else None


def _placed(
    thread: Thread, comments: Sequence[Note], items: Sequence[DiffView]
) -> tuple[dict[Line, list[Any]], list[Talk]]:
    """The discussions about lines by the line, and all others."""
    on_lines = {comment.id: comment for comment in comments}
    talked = {comment.new_path for comment in comments}
    keys = {item.new_path: keys_of(item.diff) for item in items if item.new_path in talked}
    slots: dict[Line, list[Any]] = {}
    elsewhere: list[Talk] = []
    for talk in thread.talks:
        comment = on_lines.get(talk.notes[0].view.id)
        line = None if comment is None else _line_of(comment, keys)
        if line is None:
            elsewhere.append(talk)
        else:
            slots.setdefault(line, []).append(talk)
    return slots, elsewhere


def _line_of(comment: Note, keys: Mapping[str, Mapping[tuple[str, int], Key]]) -> Line | None:
    path, side = comment.new_path or "", comment.line_type or "new"
    number = comment.old_line if side == "old" else comment.new_line
    key = keys.get(path, {}).get((side, number or 0))
    return None if key is None else (path, *key)
