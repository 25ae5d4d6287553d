"""Request parameters of deploy keys."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp


class CreateDeployKey(Params):
    """New deploy key."""

    title: str
    key: str
    can_push: bool = False
    expires_at: Timestamp | None = None


class CreatePublicDeployKey(Params):
    """New deploy key for all projects."""

    title: str
    key: str
    expires_at: Timestamp | None = None


class ListAllDeployKeys(Params):
    """Filter of the list of all deploy keys."""

    public: bool = False


class EditDeployKey(Params):
    """Changes of a deploy key."""

    title: str | UnsetType = UNSET
    can_push: bool | UnsetType = UNSET
