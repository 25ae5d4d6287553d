"""Events of quick actions that are handled by other packages."""

from typing import Literal

from ingot.collaboration.subjects import Subject
from ingot.core.events.bus import Event


class TodoCommandGiven(Event, frozen=True):
    """A user executed ``/todo`` or ``/done``; handled by the todos package."""

    actor_id: int
    subject: Subject
    action: Literal["add", "done"]
