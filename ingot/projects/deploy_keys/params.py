"""What callers may send about deploy keys."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp


class CreateDeployKey(Params):
    """A key to let in."""

    title: str
    key: str
    can_push: bool = False
    expires_at: Timestamp | None = None


class EditDeployKey(Params):
    """What changes of a key."""

    title: str | UnsetType = UNSET
    can_push: bool | UnsetType = UNSET
