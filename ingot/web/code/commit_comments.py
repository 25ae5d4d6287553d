"""Comments on a commit, both on lines of its diff and on the commit itself."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ingot.collaboration.notes.views import LineComment, line_comments
from ingot.core.db.connection import Connection
from ingot.repositories.commits.views import DiffView
from ingot.web.bidi import warns_of_characters
from ingot.web.code.diffs import DiffTarget, RenderedDiff, render_diff
from ingot.web.code.patch_rows import LineKey, line_keys
from ingot.web.discussions.discussable import COMMIT, discussable_in
from ingot.web.discussions.timeline import DiscussionItem, DiscussionThread, discussion_thread
from ingot.web.projects.context import ProjectContext

COMMENT_FORM = "form"
"""Slot value that marks the line below which the comment form is shown."""
CommentLine = tuple[str, int | None, int | None]


class DiscussedDiff(NamedTuple):
    """Diff of a commit with the comments on its lines."""

    diff: RenderedDiff
    thread: DiscussionThread
    """Discussions that belong to no line."""
    at: CommentLine | None
    """Line for which the comment form is open."""
    back: str
    """URL to return to after the form."""


def diff_with_comments(
    parent: ProjectContext, db: Connection, oid: str, items: Sequence[DiffView], at: Any
) -> DiscussedDiff:
    """Return the diff of a commit with its comments; ``at`` names a line to comment on."""
    visit, discussable = parent.visit, discussable_in(parent, COMMIT, oid)
    thread = discussion_thread(discussable)
    slots, general = _by_line(thread, line_comments(db, parent.project.id, oid), items)
    line = _find_line(items, at) if at and thread.may_write else None
    if line is not None and not visit.headers.fragment:
        slots.setdefault(line, []).append(COMMENT_FORM)
    target = DiffTarget(parent.url, oid, warns=warns_of_characters(parent.project))
    diff = render_diff(
        items, visit.request.query, slots=slots, commentable="changed" if thread.may_write else "no", target=target
    )
    back = f"{discussable.url}{diff.split_address if diff.split else diff.unified_address}".removesuffix("?")
    return DiscussedDiff(diff, msgspec.structs.replace(thread, discussions=general), line, back)


def _find_line(items: Sequence[DiffView], name: Any) -> CommentLine | None:
    """Return the line with this name if it was changed: comments on unchanged lines would not be shown."""
    line = render_diff(items, {"first": str(len(items))}).line_at(name)
    return line if line is not None and (line[1] is None) is not (line[2] is None) else None


def _by_line(
    thread: DiscussionThread, comments: Sequence[LineComment], items: Sequence[DiffView]
) -> tuple[dict[CommentLine, list[Any]], list[DiscussionItem]]:
    """Return the discussions by line, and all other discussions."""
    on_lines = {comment.note_id: comment for comment in comments}
    commented_paths = {comment.path for comment in comments}
    keys = {item.new_path: line_keys(item.diff) for item in items if item.new_path in commented_paths}
    slots: dict[CommentLine, list[Any]] = {}
    general: list[DiscussionItem] = []
    for discussion in thread.discussions:
        comment = on_lines.get(discussion.notes[0].view.id)
        line = None if comment is None else _line_of_comment(comment, keys)
        if line is None:
            general.append(discussion)
        else:
            slots.setdefault(line, []).append(discussion)
    return slots, general


def _line_of_comment(comment: LineComment, keys: Mapping[str, Mapping[tuple[str, int], LineKey]]) -> CommentLine | None:
    key = keys.get(comment.path, {}).get((comment.side, comment.line or 0))
    return None if key is None else (comment.path, *key)
