"""Request parameters of draft notes and suggestions."""

from typing import Annotated, Literal

import msgspec

from ingot.collaboration.merge_requests.discussions.params import PositionParams
from ingot.core.api.params import Params


class CreateDraftNote(Params):
    """A draft note: its line if it starts a discussion, or the discussion that it replies to."""

    note: str
    in_reply_to_discussion_id: str | None = None
    commit_id: str | None = None
    resolve_discussion: bool = False
    position: PositionParams | None = None


class EditDraftNote(Params):
    """The new text of a draft note, and its new line, if any."""

    note: str = ""
    position: PositionParams | None = None


class PublishDraftNotes(Params):
    """A summary and the result of a review."""

    note: str = ""
    internal: bool = False
    reviewer_state: Literal["reviewed", "requested_changes"] | None = None


class ApplySuggestion(Params):
    """The message of the commit; by default it counts the suggestions and names their authors."""

    commit_message: str | None = None


class ApplySuggestions(ApplySuggestion, kw_only=True):
    """The suggestions that become one commit."""

    ids: Annotated[list[int], msgspec.Meta(min_length=1, max_length=100)]
