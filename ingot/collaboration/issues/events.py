"""Events of issues."""

from typing import Literal

import msgspec

from ingot.collaboration.issues.tables import Issue
from ingot.core.access.actor import Actor
from ingot.core.events.bus import Event
from ingot.core.markup.references import Reference

Action = Literal["opened", "updated", "closed", "reopened", "moved", "deleted"]


class ChangeCause(msgspec.Struct, frozen=True):
    """Commit or merge request that caused a change of an issue; hidden from users who may not see it."""

    text: str
    """Reference from the issue's project: ``commit 0a1b…``, ``merge request !3``."""
    kind: str
    project_id: int
    id: int | None = None
    """The row's id; None for a commit."""


class IssueChanged(Event, frozen=True):
    """An issue was changed; ``changes`` holds the values before and after, by field."""

    issue_id: int
    project_id: int
    actor_id: int
    action: Action
    changes: dict[str, tuple[object, object]] = msgspec.field(default_factory=dict)
    cause: ChangeCause | None = None
    issue: Issue | None = None
    """Record after the change, which saves subscribers a query."""
    assignees: tuple[int, ...] = ()
    """Ids of the first assignees of a new issue."""
    labels: tuple[int, ...] = ()
    """Ids of the first labels of a new issue."""

    @property
    def was_confidential(self) -> bool:
        """Return whether the issue was confidential before this change, so that its earlier values must stay hidden."""
        return self.changes.get("confidential") == (True, False)


class IssueMoved(Event, frozen=True):
    """An issue was moved to another project; the original is closed and refers to the copy."""

    issue_id: int
    moved_to_id: int
    actor_id: int


class CommitReferencesFound(Event, frozen=True):
    """A pushed commit contains references; mentions in issues have been recorded."""

    project_id: int
    project_path: str
    actor: Actor
    oid: str
    named: list[Reference]


class FollowUpIssueOpened(Event, frozen=True):
    """An issue was opened that takes over discussions of a merge request, which are resolved by that."""

    issue_id: int
    project_id: int
    merge_request_iid: int
    discussion_id: str | None
    actor: Actor
