"""What callers see of members."""

from ingot.accounts.users.views import avatar_url, web_url
from ingot.core.api.views import View
from ingot.core.db.times import Date, Timestamp
from ingot.projects.members.records import Member, Requester


class MemberView(View):
    """A user with their level."""

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
    """A user who would like to belong."""

    id: int
    username: str
    name: str
    state: str
    avatar_url: str | None
    web_url: str
    requested_at: Timestamp


def member_view(member: Member, base: str) -> MemberView:
    """The member for whoever may see the list."""
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
    """The requester for whoever decides."""
    return RequesterView(
        requester.id,
        requester.username,
        requester.name,
        requester.state,
        avatar_url(requester, base),
        web_url(requester, base),
        requester.requested_at,
    )
