"""Request parameters of pull mirrors."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params


class ConfigurePullMirror(Params):
    """Changes of a pull mirror; the URL may contain a username and a password, unless it is one of SSH."""

    enabled: bool | UnsetType = UNSET
    url: str | UnsetType = UNSET
    auth_user: Annotated[str, Meta(max_length=2000)] | UnsetType = UNSET
    auth_password: Annotated[str, Meta(max_length=2000)] | UnsetType = UNSET
    auth_method: Literal["password", "ssh_public_key"] | None = None
    mirror_trigger_builds: bool | UnsetType = UNSET
    only_mirror_protected_branches: bool | UnsetType = UNSET
    mirror_overwrites_diverged_branches: bool | UnsetType = UNSET
    mirror_branch_regex: Annotated[str, Meta(max_length=255)] | UnsetType | None = UNSET
