"""Request parameters of issues."""

from typing import Literal

from msgspec import UNSET, UnsetType, field

from ingot.collaboration.planning.params import IssuableAttributes, IssuableExclusions, ListIssuables
from ingot.core.api.params import Params
from ingot.core.db.times import Date, Timestamp

Scope = Literal["created_by_me", "created-by-me", "assigned_to_me", "assigned-to-me", "all"]

Type = Literal["issue", "incident", "test_case", "requirement", "task"]
SupportedType = Literal["issue", "incident", "task"]
Severity = Literal["unknown", "low", "medium", "high", "critical"]

Order = Literal[
    "id",
    "created_at",
    "updated_at",
    "due_date",
    "title",
    "priority",
    "label_priority",
    "milestone_due",
    "popularity",
    "relative_position",
]


class ExcludedIssues(IssuableExclusions):
    """Filters that exclude issues."""

    iids: list[int] | None = None
    search: str | None = None


class ListIssues(ListIssuables):
    """Filters and order of a list of issues."""

    state: Literal["opened", "closed", "all"] | None = None
    order_by: Order = "created_at"
    scope: Scope | None = None
    confidential: bool | None = None
    due_date: str | None = None
    issue_type: Type | None = None
    excluded: ExcludedIssues | None = field(default=None, name="not")


class IssueAttributes(IssuableAttributes):
    """Attributes that can be set when an issue is created or edited."""

    confidential: bool | UnsetType = UNSET
    due_date: Date | UnsetType | None = UNSET
    issue_type: SupportedType | UnsetType = UNSET
    parent_id: int | UnsetType | None = UNSET
    """The issue that contains a task."""
    severity: Severity | UnsetType = UNSET
    """The severity of an incident."""


class CreateIssue(IssueAttributes):
    """A new issue."""

    title: str = ""
    iid: int | None = None
    created_at: Timestamp | None = None
    merge_request_to_resolve_discussions_of: int | None = None
    discussion_to_resolve: str | None = None


class EditIssue(IssueAttributes):
    """Changes of an issue."""

    title: str | UnsetType = UNSET
    add_labels: list[str] | None = None
    remove_labels: list[str] | None = None
    state_event: Literal["close", "reopen"] | None = None
    updated_at: Timestamp | None = None


class MoveIssue(Params):
    """Target of a move."""

    to_project_id: int
