"""Request parameters of custom domains."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params, TextOrFile


class CreatePagesDomain(Params):
    """A new domain; certificate and key are texts or uploaded files."""

    domain: Annotated[str, Meta(max_length=253)]
    auto_ssl_enabled: bool = False
    certificate: TextOrFile | None = None
    key: TextOrFile | None = None


class EditPagesDomain(Params):
    """Changes of a domain; an empty certificate removes the present one."""

    auto_ssl_enabled: bool | UnsetType = UNSET
    certificate: TextOrFile | UnsetType | None = UNSET
    key: TextOrFile | UnsetType | None = UNSET
