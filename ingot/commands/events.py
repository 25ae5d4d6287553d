"""What is announced of commands that rooms above obey."""

from typing import Literal

from ingot.events.bus import Event
from ingot.subjects import Subject


class TodoCommanded(Event, frozen=True):
    """Somebody wants to look at something later, or is done with that; whoever keeps todos sees to it."""

    actor_id: int
    subject: Subject
    what: Literal["add", "done"]
