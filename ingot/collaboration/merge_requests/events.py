"""Events of merge requests."""

from typing import Literal

import msgspec

from ingot.core.events.bus import Event

Action = Literal[
    "opened", "updated", "closed", "reopened", "merged", "deleted", "approved", "unapproved", "changes_requested"
]


class MergeRequestChanged(Event, frozen=True):
    """A merge request was changed; ``changes`` holds the values before and after, by field.

    A push to its source is an update of ``head_oid``. ``project_id`` is that of the target.
    """

    merge_request_id: int
    project_id: int
    actor_id: int
    action: Action
    changes: dict[str, tuple[object, object]] = msgspec.field(default_factory=dict)


class ApprovalRulesChanged(Event, frozen=True):
    """Approval rules or settings of a project or one of its merge requests were changed."""

    project_id: int


class ThreadsResolved(Event, frozen=True):
    """Threads of a merge request were resolved, or opened again."""

    merge_request_id: int


class MergeFailed(Event, frozen=True):
    """A scheduled merge was impossible after its pipeline had succeeded; the column ``merge_error`` says why."""

    merge_request_id: int
    project_id: int
    merge_user_id: int | None
    """The user who scheduled it."""
    from_train: bool = False
    """Whether the merge request has left a merge train by this."""
