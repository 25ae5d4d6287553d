"""Request parameters of tokens."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.core.access.restrictions import BoundaryKind
from ingot.core.api.params import Params
from ingot.core.db.times import Date, Timestamp

ToolNames = Annotated[
    list[str],
    Meta(description="Tools of the Model Context Protocol that the token may call; all by default."),
]


class ListTokens(Params):
    """Filters of the lists."""

    state: Literal["all", "active", "inactive"] = "all"
    revoked: bool | None = None
    search: str = ""
    user_id: int | None = None
    created_before: Timestamp | None = None
    created_after: Timestamp | None = None


class CreateToken(Params):
    """A new token; the service validates the scopes."""

    name: str
    scopes: list[str]
    expires_at: Date | None = None
    description: str = ""
    mcp_tools: ToolNames | None = None


class GranularScopeParams(Params):
    """Fine-grained permissions within a boundary."""

    access: Annotated[
        BoundaryKind,
        Meta(
            description="Where the permissions apply: projects and groups of which the user is a member, the user's "
            "own projects, chosen projects and groups, the user's account, or what has no project or group in its path."
        ),
    ]
    permissions: Annotated[
        list[str], Meta(description="Such as read_issue; docs/access.md lists the permission of each endpoint.")
    ]
    project_ids: Annotated[list[int], Meta(description="Projects of selected_memberships.")] | UnsetType = UNSET
    group_ids: (
        Annotated[list[int], Meta(description="Groups of selected_memberships, with their subgroups and projects.")]
        | UnsetType
    ) = UNSET


class CreateUserToken(Params):
    """A new token of a user, with scopes or with fine-grained permissions."""

    name: str
    scopes: list[str] | UnsetType = UNSET
    expires_at: Date | None = None
    description: str = ""
    mcp_tools: ToolNames | None = None
    granular_scopes: list[GranularScopeParams] | None = None


class CreateOwnToken(Params):
    """A new token of the caller.

    Only scopes that give no access to data are allowed, so that a stolen token cannot be turned into others.
    """

    name: str
    scopes: list[Literal["k8s_proxy", "self_rotate"]]
    expires_at: Date | None = None
    description: str = ""
    mcp_tools: ToolNames | None = None


class RotateToken(Params):
    """Expiry of the new token; one week by default."""

    expires_at: Date | UnsetType | None = UNSET
