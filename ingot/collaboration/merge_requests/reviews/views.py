"""Response structs of draft notes."""

from typing import Any

import msgspec

from ingot.collaboration.merge_requests.tables import DraftNote
from ingot.collaboration.merge_requests.versions.positions import line_code, position_of
from ingot.core.api.views import View

_NO_POSITION = {
    "base_sha": None,
    "start_sha": None,
    "head_sha": None,
    "old_path": None,
    "new_path": None,
    "position_type": "text",
    "old_line": None,
    "new_line": None,
    "line_range": None,
}


class DraftNoteView(View):
    """A draft note; all fields of the position are null if it is not about a line."""

    id: int
    author_id: int
    merge_request_id: int
    resolve_discussion: bool
    discussion_id: str | None
    note: str
    commit_id: str | None
    line_code: str | None
    position: dict[str, Any]


def draft_note_view(draft: DraftNote) -> DraftNoteView:
    """Build the view of a draft note."""
    position = position_of(draft.position)
    return DraftNoteView(
        id=draft.id,
        author_id=draft.author_id,
        merge_request_id=draft.merge_request_id,
        resolve_discussion=draft.resolve_discussion,
        discussion_id=draft.discussion_id,
        note=draft.note,
        commit_id=draft.commit_oid,
        line_code=line_code(position.new_path, position.old_line or 0, position.new_line or 0) if position else None,
        position=msgspec.json.decode(draft.position) if draft.position else dict(_NO_POSITION),
    )
