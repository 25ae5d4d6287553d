"""Request parameters of the settings of sites."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params


class EditPages(Params):
    """Settings to change."""

    pages_unique_domain_enabled: bool | UnsetType = UNSET
    pages_https_only: bool | UnsetType = UNSET
    pages_primary_domain: str | UnsetType | None = UNSET
