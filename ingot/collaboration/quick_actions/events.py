"""What is announced of commands that rooms above obey."""

from typing import Literal

from ingot.collaboration.subjects import Subject
from ingot.core.events.bus import Event


class TodoCommandGiven(Event, frozen=True):
    """Somebody wants to look at something later, or is done with that; whoever keeps todos sees to it."""

    actor_id: int
    subject: Subject
    what: Literal["add", "done"]
