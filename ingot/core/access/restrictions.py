"""Restrictions of a token beyond its scopes: the tools of agents, and fine-grained permissions."""

from collections.abc import Collection
from typing import Literal

import msgspec

BoundaryKind = Literal["all_memberships", "personal_projects", "selected_memberships", "user", "instance"]
"""Where a fine-grained permission applies: to projects and groups, to the user's own account, or to everything else."""
GRANULAR = "granular"
"""The only scope of a token with fine-grained permissions; no endpoint accepts it as a scope."""


class GranularScope(msgspec.Struct, frozen=True, omit_defaults=True):
    """Permissions such as ``read_issue`` within a boundary."""

    access: BoundaryKind
    permissions: tuple[str, ...]
    project_ids: tuple[int, ...] = ()
    group_ids: tuple[int, ...] = ()
    """Projects and groups of ``selected_memberships``; a group includes its descendants."""


class TokenRestrictions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Restrictions of a token; None where it has none."""

    mcp_tools: tuple[str, ...] | None = None
    granular_scopes: tuple[GranularScope, ...] | None = None

    def scopes_with(self, permission: str, boundaries: Collection[BoundaryKind]) -> tuple[GranularScope, ...]:
        """Return the fine-grained scopes that give a permission within any of these boundaries."""
        scopes = self.granular_scopes or ()
        return tuple(each for each in scopes if permission in each.permissions and each.access in boundaries)

    @property
    def stored(self) -> str | None:
        """Return the value of the column; None without restrictions."""
        return msgspec.json.encode(self).decode() if self != NO_RESTRICTIONS else None


NO_RESTRICTIONS = TokenRestrictions()


def read_restrictions(stored: str | None) -> TokenRestrictions:
    """Return the restrictions of a column."""
    return msgspec.json.decode(stored, type=TokenRestrictions) if stored is not None else NO_RESTRICTIONS
