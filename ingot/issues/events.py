"""What is announced of issues."""

from typing import Literal

import msgspec

from ingot.events.bus import Event

Action = Literal["opened", "updated", "closed", "reopened", "moved", "deleted"]


class IssueChanged(Event, frozen=True):
    """Something happened to an issue; ``changes`` holds what was and what is, by field."""

    issue_id: int
    project_id: int
    actor_id: int
    action: Action
    changes: dict[str, tuple[object, object]] = msgspec.field(default_factory=dict)
