"""Events of subjects of every kind."""

from typing import Literal

from ingot.collaboration.subjects import Subject
from ingot.core.events.bus import Event

Action = Literal["opened", "updated", "closed", "reopened", "merged"]


class SubjectChanged(Event, frozen=True):
    """Something happened to a subject; the room that keeps it says so, beside what it announces of its own."""

    subject: Subject
    """As it is now."""
    actor_id: int
    action: Action
    said: str | None = None
    """What its author wrote, where that is new or was changed."""
    assigned: tuple[int, ...] = ()
    """Who has it to do only since now."""
    unassigned: tuple[int, ...] = ()
    """Who had it to do until now."""
    labelled: tuple[int, ...] = ()
    """The labels that it carries only since now."""
    shows: bool = False
    """Whether others than before see it, and so what was said about it."""


class UsersMentioned(Event, frozen=True):
    """People are named who were not before, by a subject's own text or by a note, and may see it."""

    subject: Subject
    writer_id: int
    note_id: int | None
    people: tuple[int, ...]
    addressed: frozenset[int]
    """Those of them whom the text begins with."""
    internal: bool = False
    new: bool = True
    """Whether all of the text is new, and not only that it names them."""
