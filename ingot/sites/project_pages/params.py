"""Request parameters of the settings of sites."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import effect
from ingot.core.api.params import Params


class EditPages(Params):
    """Settings to change."""

    pages_unique_domain_enabled: (
        Annotated[
            bool,
            effect("Visitors reach the site at a domain that no other project uses.", False),
            Affected.SITE_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    pages_https_only: (
        Annotated[
            bool,
            effect("Visitors of the site over HTTP are redirected where the domain has a certificate.", False),
            Affected.SITE_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    pages_primary_domain: (
        Annotated[
            str,
            effect("Domain to which visitors of all other addresses of the site are redirected.", None),
            Affected.SITE_VISITORS,
        ]
        | UnsetType
        | None
    ) = UNSET
