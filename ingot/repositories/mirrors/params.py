"""Request parameters of push mirrors."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.audience import Affected
from ingot.core.api.params import Params

MirrorAuthMethod = Literal["password", "ssh_public_key"]


class CreateMirror(Params):
    """A new mirror; the URL may contain a username and a password."""

    url: str
    enabled: bool = False
    only_protected_branches: Annotated[
        bool,
        Meta(description="Users of the mirror get the protected branches of the project only, and no tags."),
        Affected.MIRROR_USERS,
    ] = False
    keep_divergent_refs: Annotated[
        bool,
        Meta(description="Branches to which users of the mirror have pushed there are not overwritten."),
        Affected.MIRROR_USERS,
    ] = False
    auth_method: MirrorAuthMethod | None = None


class EditMirror(Params):
    """Changes of a mirror."""

    url: str | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    only_protected_branches: bool | UnsetType = UNSET
    keep_divergent_refs: bool | UnsetType = UNSET
    auth_method: MirrorAuthMethod | None = None
