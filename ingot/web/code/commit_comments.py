"""What is said about a commit: below the lines that it is about, and about all of it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ingot.collaboration.notes.views import LineComment, line_comments
from ingot.core.db.connection import Connection
from ingot.repositories.commits.views import DiffView
from ingot.web.code.diffs import DiffTarget, RenderedDiff, render_diff
from ingot.web.code.patch_rows import LineKey, line_keys
from ingot.web.discussions.discussable import COMMIT, discussable_in
from ingot.web.discussions.timeline import DiscussionItem, DiscussionThread, discussion_thread
from ingot.web.projects.context import ProjectContext

COMMENT_FORM = "form"
"""Stands below the line that somebody wants to write about."""
CommentLine = tuple[str, int | None, int | None]


class DiscussedDiff(NamedTuple):
    """The difference that a commit makes, with what is said about its lines."""

    diff: RenderedDiff
    thread: DiscussionThread
    """What is said about none of them."""
    at: CommentLine | None
    """The line that somebody wants to write about."""
    back: str
    """The page to come back to."""


def diff_with_comments(
    place: ProjectContext, db: Connection, oid: str, items: Sequence[DiffView], at: Any
) -> DiscussedDiff:
    """A commit's difference; ``at`` names a line to write about."""
    visit, ground = place.visit, discussable_in(place, COMMIT, oid)
    thread = discussion_thread(ground)
    slots, elsewhere = _by_line(thread, line_comments(db, place.project.id, oid), items)
    wanted = _find_line(items, at) if at and thread.may_write else None
    if wanted is not None and not visit.headers.fragment:
        slots.setdefault(wanted, []).append(COMMENT_FORM)
    code = DiffTarget(place.url, oid)
    diff = render_diff(items, visit.request.query, slots=slots, talk="changed" if thread.may_write else "no", code=code)
    back = f"{ground.url}{diff.split_address if diff.split else diff.unified_address}".removesuffix("?")
    return DiscussedDiff(diff, msgspec.structs.replace(thread, discussions=elsewhere), wanted, back)


def _find_line(items: Sequence[DiffView], name: Any) -> CommentLine | None:
    """The line of this name, if it is one that changed: comments on others stand nowhere."""
    found = render_diff(items, {"first": str(len(items))}).line_at(name)
    return found if found is not None and (found[1] is None) is not (found[2] is None) else None


def _by_line(
    thread: DiscussionThread, comments: Sequence[LineComment], items: Sequence[DiffView]
) -> tuple[dict[CommentLine, list[Any]], list[DiscussionItem]]:
    """The discussions about lines by the line, and all others."""
    on_lines = {comment.note_id: comment for comment in comments}
    talked = {comment.path for comment in comments}
    keys = {item.new_path: line_keys(item.diff) for item in items if item.new_path in talked}
    slots: dict[CommentLine, list[Any]] = {}
    elsewhere: list[DiscussionItem] = []
    for talk in thread.discussions:
        comment = on_lines.get(talk.notes[0].view.id)
        line = None if comment is None else _line_of_comment(comment, keys)
        if line is None:
            elsewhere.append(talk)
        else:
            slots.setdefault(line, []).append(talk)
    return slots, elsewhere


def _line_of_comment(comment: LineComment, keys: Mapping[str, Mapping[tuple[str, int], LineKey]]) -> CommentLine | None:
    key = keys.get(comment.path, {}).get((comment.side, comment.line or 0))
    return None if key is None else (comment.path, *key)
