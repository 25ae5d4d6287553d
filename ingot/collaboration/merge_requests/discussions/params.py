"""What callers send about what is said of merge requests."""

from typing import Literal

from msgspec import UNSET, UnsetType

from ingot.collaboration.notes.params import WriteNote
from ingot.core.api.params import Params


class PositionParams(Params):
    """A line of a diff: of the file before, after, or of both where it did not change."""

    base_sha: str = ""
    start_sha: str = ""
    head_sha: str = ""
    position_type: Literal["text", "image", "file"] = "text"
    old_path: str = ""
    new_path: str = ""
    old_line: int | None = None
    new_line: int | None = None


class CreateDiscussion(WriteNote):
    """The first note of a discussion, and the line that it is about, if any."""

    position: PositionParams | None = None
    commit_id: str | None = None


class ResolveDiscussion(Params):
    """Whether a discussion is settled."""

    resolved: bool


class EditDiscussionNote(Params):
    """How a note is to read, or whether what it asks for is settled."""

    body: str | UnsetType = UNSET
    resolved: bool | UnsetType = UNSET


class ApproveMergeRequest(Params):
    """Which commit is approved: that at the head, where anything is said."""

    sha: str | None = None
    approval_password: str | None = None
    """Known to clients, and without effect."""
