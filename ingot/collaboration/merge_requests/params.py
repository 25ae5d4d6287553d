"""Request parameters of merge requests."""

from typing import Literal

from msgspec import UNSET, UnsetType, field

from ingot.collaboration.planning.params import IssuableAttributes, IssuableExclusions, ListIssuables
from ingot.core.api.params import Params

Scope = Literal["created_by_me", "created-by-me", "assigned_to_me", "assigned-to-me", "reviews_for_me", "all"]
Order = Literal[
    "id",
    "created_at",
    "updated_at",
    "merged_at",
    "title",
    "priority",
    "label_priority",
    "milestone_due",
    "popularity",
]


class ExcludedMergeRequests(IssuableExclusions):
    """Filters that exclude merge requests."""

    reviewer_id: int | None = None
    reviewer_username: str | None = None
    source_branch: str | None = None
    target_branch: str | None = None


class ListMergeRequests(ListIssuables):
    """Filters and order of a list of merge requests."""

    state: Literal["opened", "reopened", "closed", "merged", "locked", "all"] | None = None
    order_by: Order = "created_at"
    scope: Scope | None = None
    reviewer_id: str | None = None
    """A user's id, or ``None`` or ``Any`` as words."""
    reviewer_username: str | None = None
    source_branch: str | None = None
    target_branch: str | None = None
    source_project_id: int | None = None
    wip: Literal["yes", "no"] | None = None
    draft: bool | None = None
    merge_user_id: int | None = None
    merge_user_username: str | None = None
    approved_by_ids: list[str] | None = None
    """Users' ids, or ``None`` or ``Any`` as words."""
    view: Literal["simple"] | None = None
    with_merge_status_recheck: bool = False
    non_archived: bool = False
    excluded: ExcludedMergeRequests | None = field(default=None, name="not")


class GetMergeRequest(Params):
    """Optional fields of the response."""

    include_diverged_commits_count: bool = False
    include_rebase_in_progress: bool = False
    render_html: bool = False


class MergeRequestAttributes(IssuableAttributes):
    """Attributes that can be set when a merge request is created or edited."""

    reviewer_ids: list[int] | UnsetType | None = UNSET
    remove_source_branch: bool | UnsetType | None = UNSET
    squash: bool | UnsetType | None = UNSET
    allow_collaboration: bool | UnsetType | None = UNSET
    """Accepted because clients send it; has no effect."""


class CreateMergeRequest(MergeRequestAttributes, kw_only=True):
    """A new merge request."""

    source_branch: str
    target_branch: str
    title: str
    target_project_id: int | None = None


class EditMergeRequest(MergeRequestAttributes):
    """Changes of a merge request."""

    title: str | UnsetType | None = UNSET
    target_branch: str | UnsetType | None = UNSET
    state_event: Literal["close", "reopen"] | None = None
    add_labels: list[str] | None = None
    remove_labels: list[str] | None = None
