"""Events of subjects of every kind."""

from typing import Literal

from ingot.collaboration.subjects import Subject
from ingot.core.events.bus import Event

Action = Literal["opened", "updated", "closed", "reopened", "merged"]


class SubjectChanged(Event, frozen=True):
    """A subject changed; emitted by its package in addition to its specific events."""

    subject: Subject
    """The subject after the change."""
    actor_id: int
    action: Action
    new_text: str | None = None
    """Its title and description if they are new or were changed."""
    assigned: tuple[int, ...] = ()
    """The ids of newly assigned users."""
    unassigned: tuple[int, ...] = ()
    """The ids of users who are no longer assigned."""
    review_requested: tuple[int, ...] = ()
    """The ids of users who were newly asked for a review."""
    changes_requested: tuple[int, ...] = ()
    """The ids of users of whom a reviewer has requested changes."""
    labelled: tuple[int, ...] = ()
    """The ids of newly added labels."""
    newly_visible: bool = False
    """Whether it became visible to more users, together with its notes."""


class SubjectDropped(Event, frozen=True):
    """An issue or a merge request was deleted with everything that belongs to it; its row remains."""

    subject: Subject
    note_ids: tuple[int, ...]
    """The ids of its deleted notes."""


class UsersMentioned(Event, frozen=True):
    """Users who can see a subject were newly mentioned in its text or in a note."""

    subject: Subject
    writer_id: int
    note_id: int | None
    user_ids: tuple[int, ...]
    addressed: frozenset[int]
    """Ids of the users mentioned at the start of the text."""
    internal: bool = False
    new: bool = True
    """Whether the whole text is new, not only the mention."""
