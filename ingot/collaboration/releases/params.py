"""Request parameters of releases."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.collaboration.releases.tables import LinkType
from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp
from ingot.repositories.tags.params import MAX_TEXT_LENGTH

ReleaseName = Annotated[str, Meta(max_length=255)]
ReleaseText = Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]


ReleaseOrder = Literal["released_at", "created_at"]


class GetRelease(Params):
    """Optional parts of a release."""

    include_html_description: bool = False


class ListReleases(GetRelease):
    """The order of the list."""

    order_by: ReleaseOrder = "released_at"
    sort: Literal["asc", "desc"] = "desc"


class ListGroupReleases(Params):
    """The order of the list of a group; ``simple`` omits what is not a column of the release."""

    order_by: ReleaseOrder = "released_at"
    sort: Literal["asc", "desc"] = "desc"
    simple: bool = False


class CreateLink(Params):
    """A new link; ``direct_asset_path`` is the newer name of ``filepath``."""

    name: str
    url: str
    link_type: LinkType = "other"
    filepath: str | None = None
    direct_asset_path: str | None = None


class EditLink(Params):
    """Changes of a link."""

    name: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    link_type: LinkType | UnsetType = UNSET
    filepath: str | UnsetType | None = UNSET
    direct_asset_path: str | UnsetType | None = UNSET


class CreateAssets(Params):
    """The assets of a new release."""

    links: list[CreateLink] | None = None


class CreateRelease(Params):
    """A new release; the tag is created at ``ref`` if it does not exist."""

    tag_name: str
    name: ReleaseName | None = None
    description: ReleaseText | None = None
    ref: str | None = None
    tag_message: ReleaseText | None = None
    released_at: Timestamp | None = None
    milestones: list[str] | None = None
    milestone_ids: list[int] | None = None
    assets: CreateAssets | None = None


class EditRelease(Params):
    """Changes of a release."""

    name: ReleaseName | UnsetType | None = UNSET
    description: ReleaseText | UnsetType | None = UNSET
    released_at: Timestamp | UnsetType = UNSET
    milestones: list[str] | UnsetType | None = UNSET
    milestone_ids: list[int] | UnsetType | None = UNSET
