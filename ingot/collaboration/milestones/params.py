"""Request parameters of milestones."""

from typing import Literal

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Date, Timestamp


class ListMilestones(Params):
    """Filters of the list of milestones."""

    iids: list[int] | None = None
    state: Literal["active", "closed", "all"] | None = None
    title: str | None = None
    search: str | None = None
    include_parent_milestones: bool = False
    include_ancestors: bool = False
    updated_after: Timestamp | None = None
    updated_before: Timestamp | None = None
    containing_date: Date | None = None


class ListGroupMilestones(ListMilestones):
    """Filters of the list of a group's milestones."""

    include_descendants: bool = False


class CreateMilestone(Params):
    """A new milestone."""

    title: str
    description: str | None = None
    due_date: Date | None = None
    start_date: Date | None = None


class EditMilestone(Params):
    """Changes of a milestone."""

    title: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    due_date: Date | UnsetType | None = UNSET
    start_date: Date | UnsetType | None = UNSET
    state_event: Literal["close", "activate"] | UnsetType = UNSET
