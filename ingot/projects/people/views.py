"""What callers see of starrers and shares."""

from ingot.api.views import View
from ingot.db.times import Date, Timestamp
from ingot.projects.people.queries import Starrer
from ingot.projects.tables import Share
from ingot.users.accounts.views import UserBrief, user_brief


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


def starrer_view(starrer: Starrer, base: str) -> StarrerView:
    """The starrer for whoever sees the project."""
    return StarrerView(starrer.starred_since, user_brief(starrer, base))


def share_view(share: Share) -> ShareView:
    """The share for whoever administers the project."""
    return ShareView(share.id, share.project_id, share.group_id, share.group_access, share.expires_at)
