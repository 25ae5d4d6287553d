"""Request parameters of discussions and approvals."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from ingot.collaboration.notes.params import WriteNote
from ingot.core.api.params import Params


class RangeEndParams(Params):
    """The first or last line of a range: its numbers, or its code and type."""

    line_code: Annotated[str, msgspec.Meta(max_length=100)] = ""
    type: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    old_line: int | None = None
    new_line: int | None = None


class LineRangeParams(Params):
    """The first and last line of a comment on several lines."""

    start: RangeEndParams | None = None
    end: RangeEndParams | None = None


class PositionParams(Params):
    """A line of a diff: in the old file, in the new file, or in both if it is unchanged."""

    base_sha: str = ""
    start_sha: str = ""
    head_sha: str = ""
    position_type: Literal["text", "image", "file"] = "text"
    old_path: str = ""
    new_path: str = ""
    old_line: int | None = None
    new_line: int | None = None
    line_range: LineRangeParams | None = None


class CreateDiscussion(WriteNote):
    """The first note of a discussion, and its line if it is about one."""

    position: PositionParams | None = None
    commit_id: str | None = None


class ResolveDiscussion(Params):
    """Whether the discussion is resolved."""

    resolved: bool


class EditDiscussionNote(Params):
    """The new text of a note, or whether it is resolved."""

    body: str | UnsetType = UNSET
    resolved: bool | UnsetType = UNSET


class ApproveMergeRequest(Params):
    """The commit to approve; if given, it must be the head."""

    sha: str | None = None
    approval_password: str | None = None
    """Password of the caller, if the project demands it."""
