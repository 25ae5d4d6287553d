"""What callers may send about notes."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp
from ingot.git.diffs.line_positions import Side


class PostComment(Params):
    """A comment on a commit, and the line that it is about; one that is not there is no error."""

    note: str
    path: str = ""
    line: int | None = None
    line_type: Side = "new"


class ListNotes(Params):
    """Which notes, in which order."""

    order_by: Literal["created_at", "updated_at"] = "created_at"
    sort: Literal["asc", "desc"] = "desc"
    activity_filter: Literal["all_notes", "only_comments", "only_activity"] = "all_notes"


class WriteNote(Params):
    """A note; when it was written counts where the caller may say so."""

    body: str
    created_at: Timestamp | None = None
    internal: bool | None = None
    confidential: bool | None = None
    """The older name of ``internal``."""
    merge_request_diff_head_sha: str | None = None
    """The head that whoever commands to merge has seen; another one is not merged."""


class EditNote(Params):
    """How a note is to read."""

    body: str
