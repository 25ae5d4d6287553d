"""What is to be told, between the moment when it happens and the job that finds out to whom."""

from typing import Literal

import msgspec

NOTIFY = "notify"

NoticeType = Literal["opened", "closed", "reopened", "merged", "reassigned", "relabelled", "noted", "mentioned"]
_FLAGS = {
    "opened": "new",
    "closed": "close",
    "reopened": "reopen",
    "reassigned": "reassign",
    "merged": "merge",
}


class Notice(msgspec.Struct, frozen=True):
    """Something happened to a subject."""

    key: str
    """Of its own, so that who is told twice is told the same."""
    what: NoticeType
    kind: str
    subject_id: int
    actor_id: int
    note_id: int | None = None
    people: tuple[int, ...] = ()
    """Whom it concerns, besides those who take part."""
    labels: tuple[int, ...] = ()
    """The labels that the subject carries only since then."""

    @property
    def flag(self) -> str:
        """What users choose it by."""
        return "new_note" if self.what == "noted" else f"{_FLAGS.get(self.what, self.what)}_{self.kind}"
