"""What is announced of issues, and what is asked of rooms above."""

from typing import Literal

import msgspec

from ingot.collaboration.issues.tables import Issue
from ingot.core.access.actor import Actor
from ingot.core.events.bus import Event
from ingot.core.markup.references import Reference

Action = Literal["opened", "updated", "closed", "reopened", "moved", "deleted"]


class ChangeCause(msgspec.Struct, frozen=True):
    """What elsewhere made something happen to an issue; who may not see that place is not told of it."""

    text: str
    """As the issue's project names it: ``commit 0a1b…``, ``merge request !3``."""
    kind: str
    project_id: int
    id: int | None = None
    """Its row, where it has one."""


class IssueChanged(Event, frozen=True):
    """Something happened to an issue; ``changes`` holds what was and what is, by field."""

    issue_id: int
    project_id: int
    actor_id: int
    action: Action
    changes: dict[str, tuple[object, object]] = msgspec.field(default_factory=dict)
    cause: ChangeCause | None = None
    issue: Issue | None = None
    """How it is now, for those who would read it again."""
    assignees: tuple[int, ...] = ()
    """Who had a new one to do from its first moment on."""
    labels: tuple[int, ...] = ()
    """And what it carried."""

    @property
    def shows(self) -> bool:
        """Whether it was confidential till now, so that what it was before is not for everybody who sees it now."""
        return self.changes.get("confidential") == (True, False)


class IssueMoved(Event, frozen=True):
    """An issue goes on in another project; the original is closed and points there."""

    issue_id: int
    moved_to_id: int
    actor_id: int


class CommitReferencesFound(Event, frozen=True):
    """A commit that somebody pushed names something; issues among that have heard of it."""

    project_id: int
    project_path: str
    actor: Actor
    oid: str
    named: list[Reference]


class FollowUpIssueOpened(Event, frozen=True):
    """An issue was opened that takes over from discussions of a merge request, which are settled by that."""

    issue_id: int
    project_id: int
    merge_request_iid: int
    discussion_id: str | None
    actor: Actor
