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
    """The label of a new list."""

    label_id: int


class MoveList(Params):
    """The new position of a list, counted from 0."""

    position: int
