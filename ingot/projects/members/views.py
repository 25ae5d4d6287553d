"""Response structs of members and access requests."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.accounts.users.views import avatar_url, web_url
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, Timestamp
from ingot.projects.members.queries import MemberSource, list_membership_sources, request_or_none
from ingot.projects.members.records import Member, Requester
from ingot.projects.namespaces.tables import SourceKind


class MemberView(View):
    """User with access level."""

    id: int
    username: str
    name: str
    state: str
    avatar_url: str | None
    web_url: str
    access_level: int
    expires_at: Date | None
    created_at: Timestamp


class RequesterView(View):
    """User with an access request."""

    id: int
    username: str
    name: str
    state: str
    avatar_url: str | None
    web_url: str
    requested_at: Timestamp


def member_view(member: Member, base: str) -> MemberView:
    """Return the view of a member."""
    return MemberView(
        member.id,
        member.username,
        member.name,
        member.state,
        avatar_url(member, base),
        web_url(member, base),
        member.access_level,
        member.expires_at,
        member.created_at,
    )


def requester_view(requester: Requester, base: str) -> RequesterView:
    """Return the view of a user who requested access."""
    return RequesterView(
        requester.id,
        requester.username,
        requester.name,
        requester.state,
        avatar_url(requester, base),
        web_url(requester, base),
        requester.requested_at,
    )


def has_requested_access(db: Connection, kind: SourceKind, source_id: int, user_id: int) -> bool:
    """Return whether a user has asked for access to a project or a group."""
    return request_or_none(db, MemberSource(kind, source_id, 0), user_id) is not None


class MembershipOrigin(NamedTuple):
    """Origins of a user's access: the direct membership, and the group with the highest inherited level."""

    level: int = 0
    """Level of the direct membership; 0 without one."""
    expires_at: Date | None = None
    inherited_level: int = 0
    group_path: str = ""
    """Path of the group above; empty if the access is direct only, or comes from an invited group."""


def membership_origins(
    db: Connection, kind: SourceKind, source_id: int, namespace_id: int, user_ids: Sequence[int]
) -> dict[int, MembershipOrigin]:
    """Return the origins of the access of members of a project or a group, in one statement."""
    origins: dict[int, MembershipOrigin] = {}
    for user_id, direct, level, expires_at, path in list_membership_sources(
        db, MemberSource(kind, source_id, namespace_id), user_ids
    ):
        origin = origins.get(user_id, MembershipOrigin())
        origins[user_id] = (
            origin._replace(level=level, expires_at=expires_at)
            if direct
            else origin._replace(inherited_level=level, group_path=path or "")
        )
    return origins
