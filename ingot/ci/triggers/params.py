"""Request parameters of pipeline triggers."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params


class CreateTrigger(Params):
    """A new trigger."""

    description: str


class EditTrigger(Params):
    """Changes of a trigger."""

    description: str | UnsetType = UNSET
