"""Request parameters that issues and merge requests share."""

from typing import Literal

from msgspec import UNSET, UnsetType, field

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp


class IssuableExclusions(Params):
    """Filters of ``not[...]`` that every list of issuables has."""

    labels: list[str] | None = None
    milestone: str | None = None
    milestone_ids: list[int] | None = None
    """The milestones of a board's lists; GitLab excludes only one, by its title."""
    author_id: int | None = None
    author_username: str | None = None
    assignee_id: int | None = None
    assignee_username: list[str] | None = None
    my_reaction_emoji: str | None = None


class ListIssuables(Params):
    """Filters and order that every list of issuables has."""

    state: str | None = None
    labels: list[str] | None = None
    milestone: str | None = None
    iids: list[int] | None = None
    order_by: str = "created_at"
    sort: Literal["asc", "desc"] = "desc"
    search: str | None = None
    within: str | None = field(default=None, name="in")
    """The fields to search: the title, the description, or both."""
    scope: str | None = None
    author_id: int | None = None
    author_username: str | None = None
    assignee_id: str | None = None
    """A user's id, or ``None`` or ``Any`` as words."""
    assignee_username: list[str] | None = None
    my_reaction_emoji: str | None = None
    created_after: Timestamp | None = None
    created_before: Timestamp | None = None
    updated_after: Timestamp | None = None
    updated_before: Timestamp | None = None
    with_labels_details: bool = False


class IssuableAttributes(Params):
    """Attributes that can be set when an issuable is created or edited."""

    description: str | UnsetType | None = UNSET
    assignee_id: int | UnsetType | None = UNSET
    assignee_ids: list[int] | UnsetType | None = UNSET
    milestone_id: int | UnsetType | None = UNSET
    labels: list[str] | UnsetType | None = UNSET
    discussion_locked: bool | UnsetType | None = UNSET


class TrackTime(Params):
    """A duration such as ``1h 30m``."""

    duration: str
    summary: str | None = None
