"""Request parameters of notes."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp
from ingot.git.diffs.line_positions import Side


class PostComment(Params):
    """A comment on a commit and the line it refers to; a path needs a line, and one that the diff lacks is ignored."""

    note: str
    path: str = ""
    line: int | None = None
    line_type: Side = "new"


class ListNotes(Params):
    """Filters and order of the list of notes."""

    order_by: Literal["created_at", "updated_at"] = "created_at"
    sort: Literal["asc", "desc"] = "desc"
    activity_filter: Literal["all_notes", "only_comments", "only_activity"] = "all_notes"


class WriteNote(Params):
    """A new note; ``created_at`` is ignored unless the caller may set it."""

    body: str
    created_at: Timestamp | None = None
    internal: bool | None = None
    confidential: bool | None = None
    """The older name of ``internal``."""
    merge_request_diff_head_sha: str | None = None
    """The head commit that the caller has seen; ``/merge`` merges no other."""


class EditNote(Params):
    """The new text of a note."""

    body: str
