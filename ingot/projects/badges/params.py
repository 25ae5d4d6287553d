"""Request parameters of badges."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params


class ListBadges(Params):
    """Filter of the list of badges."""

    name: str | None = None


class RenderBadge(Params):
    """URLs to preview."""

    link_url: str
    image_url: str


class CreateBadge(Params):
    """New badge."""

    link_url: str
    image_url: str
    name: str | None = None


class EditBadge(Params):
    """Changes of a badge."""

    link_url: str | UnsetType = UNSET
    image_url: str | UnsetType = UNSET
    name: str | UnsetType | None = UNSET
