"""What callers see of starrers, shares and the memberships of a user."""

from ingot.accounts.users.views import UserBrief, user_brief
from ingot.core.api.views import View
from ingot.core.db.times import Date, Timestamp
from ingot.projects.projects.tables import Share
from ingot.projects.sharing.queries import MembershipWithSource, Starrer


class StarrerView(View):
    """Who starred, and since when."""

    starred_since: Timestamp
    user: UserBrief


class ShareView(View):
    """A project's share with a group."""

    id: int
    project_id: int
    group_id: int
    group_access: int
    expires_at: Date | None


class MembershipView(View):
    """A group or project to which a user belongs."""

    source_id: int
    source_name: str
    source_type: str
    access_level: int


def membership_view(membership: MembershipWithSource) -> MembershipView:
    """The membership for administrators."""
    kind = "Project" if membership.source_kind == "project" else "Namespace"
    return MembershipView(membership.source_id, membership.source_name, kind, membership.access_level)


def starrer_view(starrer: Starrer, base: str) -> StarrerView:
    """The starrer for whoever sees the project."""
    return StarrerView(starrer.starred_since, user_brief(starrer, base))


def share_view(share: Share) -> ShareView:
    """The share for whoever administers the project."""
    return ShareView(share.id, share.project_id, share.group_id, share.group_access, share.expires_at)
