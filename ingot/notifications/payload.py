"""Payload of notification jobs."""

from typing import Literal

import msgspec

NOTIFY = "notify"

NotificationType = Literal[
    "opened",
    "closed",
    "reopened",
    "merged",
    "reassigned",
    "review_requested",
    "changes_requested",
    "relabelled",
    "noted",
    "mentioned",
]
_FLAGS = {
    "opened": "new",
    "closed": "close",
    "reopened": "reopen",
    "reassigned": "reassign",
    "merged": "merge",
}


class Notification(msgspec.Struct, frozen=True):
    """A change of a subject about which users may be notified."""

    key: str
    """Unique per notification, so that a retried job sends identical emails."""
    what: NotificationType
    kind: str
    subject_id: int
    actor_id: int
    note_id: int | None = None
    people: tuple[int, ...] = ()
    """Users concerned besides the participants."""
    labels: tuple[int, ...] = ()
    """Labels added by this change."""

    @property
    def flag(self) -> str:
        """Return the name of the event in the custom notification settings."""
        return "new_note" if self.what == "noted" else f"{_FLAGS.get(self.what, self.what)}_{self.kind}"
