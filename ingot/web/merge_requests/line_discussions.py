"""Discussions on lines of a diff: their positions and the lines that they quote."""

from sys import getsizeof
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from ingot.collaboration.merge_requests.versions.views import PushedVersion
from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.log import log_failure
from ingot.core.markup.lexers import language_of
from ingot.git.core.errors import GitError
from ingot.git.diffs.diffs import diff_between
from ingot.git.history.commits import decode_text
from ingot.web.code.patch_rows import DiffHunk, parse_hunks, unified_rows
from ingot.web.discussions.timeline import DiscussionItem, DiscussionThread
from ingot.web.merge_requests.context import MergeRequestContext
from ingot.web.merge_requests.line_form import LineForm
from ingot.web.merge_requests.review_drafts import DraftItem, ReviewDrafts

_CONTEXT_LINES = 3
_MAX_CONTEXTS = 50
_MAX_HIGHLIGHTED_LENGTH = 20_000

LineKey = tuple[str, int | None, int | None]
_ExcerptKey = tuple[str, str, int | None, int | None, str]
_excerpt_cache: BoundedCache[_ExcerptKey, str] = declare_cache("diff-excerpts", share=1)


class LineContext(msgspec.Struct, frozen=True):
    """Lines of a diff that a discussion quotes."""

    path: str
    line: int | None
    rows: Markup
    outdated: bool
    """True if the comment is on an earlier version."""


class LineSlot(NamedTuple):
    """Content below a line: discussions, the viewer's draft notes, and the form for a new comment."""

    discussions: list[DiscussionItem]
    drafts: list[DraftItem]
    form: LineForm | None = None


def line_slots(thread: DiscussionThread, drafts: ReviewDrafts, version: PushedVersion) -> dict[LineKey, LineSlot]:
    """Return the discussions and draft notes on lines of a version, by line."""
    slots: dict[LineKey, LineSlot] = {}

    def slot_at(position: dict[str, Any]) -> LineSlot:
        line = position["new_path"], position.get("old_line"), position.get("new_line")
        return slots.setdefault(line, LineSlot([], []))

    for discussion in thread.discussions:
        position = discussion_position(discussion)
        if position is not None and position.get("head_sha") == version.head_oid:
            slot_at(position).discussions.append(discussion)
    for draft in drafts.items:
        if draft.view.position["head_sha"] == version.head_oid:
            slot_at(draft.view.position).drafts.append(draft)
    return slots


def drafts_outside(drafts: ReviewDrafts, slots: dict[LineKey, LineSlot]) -> list[DraftItem]:
    """Return the draft notes that are shown below no line: general ones, and those on earlier versions."""
    inside = {draft.view.id for slot in slots.values() for draft in slot.drafts}
    discussions = {discussion.id for slot in slots.values() for discussion in slot.discussions}
    return [
        draft for draft in drafts.items if draft.view.id not in inside and draft.view.discussion_id not in discussions
    ]


def discussion_position(discussion: DiscussionItem) -> dict[str, Any] | None:
    """Return the position of the line that a discussion is about."""
    position = discussion.notes[0].view.position
    return position if isinstance(position, dict) else None


def line_contexts(merge_request: MergeRequestContext, thread: DiscussionThread) -> dict[str, LineContext]:
    """Return the quoted lines of the discussions on lines, by discussion id."""
    contexts: dict[str, LineContext] = {}
    for discussion in thread.discussions:
        position = discussion_position(discussion)
        if position is not None and len(contexts) < _MAX_CONTEXTS:
            contexts[discussion.id] = _context(merge_request, discussion, position)
    return contexts


def _context(merge_request: MergeRequestContext, discussion: DiscussionItem, position: dict[str, Any]) -> LineContext:
    path, old, new = position["new_path"], position.get("old_line"), position.get("new_line")
    head = merge_request.version.head_oid if merge_request.version else None
    diff = _diff(merge_request, position.get("base_sha"), position["head_sha"], path)
    rows = _rows(diff, path, old, new, f"c{discussion.id[:10]}") if diff else ""
    return LineContext(path, new or old, Markup(rows), position["head_sha"] != head)  # noqa: S704 - The rows are escaped.


def _diff(merge_request: MergeRequestContext, base: str | None, head: str, path: str) -> str:
    try:
        changes = diff_between(merge_request.repository, base, head).changes
    except GitError as error:
        log_failure("diff of a discussion not read", error)
        return ""
    return next((change.diff for change in changes if decode_text(change.new_path) == path), "")


def _rows(diff: str, path: str, old: int | None, new: int | None, anchor: str) -> str:
    """Return the rows of a diff that end with the commented line."""
    key = diff, path, old, new, anchor
    rows = _excerpt_cache.get(key)
    if rows is None:
        patch = parse_hunks(diff, language_of(path) if len(diff) <= _MAX_HIGHLIGHTED_LENGTH else "")
        rows = _excerpt(patch.hunks, old, new, anchor)
        if patch.lasting:
            _excerpt_cache.put(key, rows, getsizeof(diff) + getsizeof(rows) + 500)
    return rows


def _excerpt(hunks: list[DiffHunk], old: int | None, new: int | None, anchor: str) -> str:
    for hunk in hunks:
        for index, line in enumerate(hunk.lines):
            if line.key == (old, new):
                lines = hunk.lines[max(0, index - _CONTEXT_LINES) : index + 1]
                return "".join(row.html for row in unified_rows([DiffHunk(hunk.heading, lines)], anchor, "#")[1:])
    return ""
