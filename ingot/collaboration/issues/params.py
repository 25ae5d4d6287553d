"""What callers send about issues."""

from typing import Literal

from msgspec import UNSET, UnsetType, field

from ingot.core.api.params import Params
from ingot.core.db.times import Date, Timestamp

Scope = Literal["created_by_me", "created-by-me", "assigned_to_me", "assigned-to-me", "all"]

Type = Literal["issue", "incident", "test_case", "requirement", "task"]

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


class ExcludedIssuables(Params):
    """What must not be so of anything that is planned."""

    labels: list[str] | None = None
    milestone: str | None = None
    author_id: int | None = None
    author_username: str | None = None
    assignee_id: int | None = None
    assignee_username: list[str] | None = None
    my_reaction_emoji: str | None = None


class ListIssuables(Params):
    """What can be asked of every list of what is planned: issues, and merge requests, which lie above."""

    state: str | None = None
    labels: list[str] | None = None
    milestone: str | None = None
    iids: list[int] | None = None
    order_by: str = "created_at"
    sort: Literal["asc", "desc"] = "desc"
    search: str | None = None
    within: str | None = field(default=None, name="in")
    """Where the text is searched: in the title, the description, or both."""
    scope: str | None = None
    author_id: int | None = None
    author_username: str | None = None
    assignee_id: str | None = None
    """A number, or None or Any."""
    assignee_username: list[str] | None = None
    my_reaction_emoji: str | None = None
    created_after: Timestamp | None = None
    created_before: Timestamp | None = None
    updated_after: Timestamp | None = None
    updated_before: Timestamp | None = None
    with_labels_details: bool = False


class ExcludedIssues(ExcludedIssuables):
    """What must not be so."""

    iids: list[int] | None = None
    search: str | None = None


class ListIssues(ListIssuables):
    """Which issues, in which order."""

    state: Literal["opened", "closed", "all"] | None = None
    order_by: Order = "created_at"
    scope: Scope | None = None
    confidential: bool | None = None
    due_date: str | None = None
    issue_type: Type | None = None
    excluded: ExcludedIssues | None = field(default=None, name="not")


class IssueAttributes(Params):
    """What can be said of an issue."""

    description: str | UnsetType | None = UNSET
    confidential: bool | UnsetType = UNSET
    assignee_ids: list[int] | UnsetType | None = UNSET
    assignee_id: int | UnsetType | None = UNSET
    milestone_id: int | UnsetType | None = UNSET
    labels: list[str] | UnsetType | None = UNSET
    due_date: Date | UnsetType | None = UNSET
    discussion_locked: bool | UnsetType | None = UNSET


class CreateIssue(IssueAttributes):
    """A new issue."""

    title: str = ""
    iid: int | None = None
    created_at: Timestamp | None = None
    merge_request_to_resolve_discussions_of: int | None = None
    discussion_to_resolve: str | None = None


class EditIssue(IssueAttributes):
    """What is to change."""

    title: str | UnsetType = UNSET
    add_labels: list[str] | None = None
    remove_labels: list[str] | None = None
    state_event: Literal["close", "reopen"] | None = None
    updated_at: Timestamp | None = None


class MoveIssue(Params):
    """Where to."""

    to_project_id: int
