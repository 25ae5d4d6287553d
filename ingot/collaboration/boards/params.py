"""What callers send about boards."""

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
    """What a new list holds."""

    label_id: int


class MoveList(Params):
    """Where a list is to stand, counted from 0."""

    position: int
