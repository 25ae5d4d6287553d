"""Request parameters of boards."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params


class CreateBoard(Params):
    """A new board."""

    name: str


class EditBoard(Params):
    """Changes of a board."""

    name: str | UnsetType = UNSET
    hide_backlog_list: bool | UnsetType = UNSET
    hide_closed_list: bool | UnsetType = UNSET


class CreateList(Params):
    """The label, assignee or milestone of a new list."""

    label_id: int | None = None
    assignee_id: int | None = None
    milestone_id: int | None = None
    max_issue_count: int = 0


class EditList(Params):
    """The new position of a list, counted from 0, and the number of issues that it should not exceed."""

    position: int | None = None
    max_issue_count: int | None = None
