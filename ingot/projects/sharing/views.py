"""Response structs of starrers, shares and memberships of a user."""

from ingot.accounts.users.views import UserBrief, user_brief
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, Timestamp
from ingot.projects.projects.queries import star_or_none
from ingot.projects.projects.tables import Project, Share
from ingot.projects.sharing.queries import MembershipWithSource, Starrer


class StarrerView(View):
    """User who starred a project, with the time."""

    starred_since: Timestamp
    user: UserBrief


class ShareView(View):
    """Share of a project with a group."""

    id: int
    project_id: int
    group_id: int
    group_access: int
    expires_at: Date | None


class MembershipView(View):
    """Group or project in which a user has a membership."""

    source_id: int
    source_name: str
    source_type: str
    access_level: int


def membership_view(membership: MembershipWithSource) -> MembershipView:
    """Return the view of a membership, for administrators."""
    kind = "Project" if membership.source_kind == "project" else "Namespace"
    return MembershipView(membership.source_id, membership.source_name, kind, membership.access_level)


def starrer_view(starrer: Starrer, base: str) -> StarrerView:
    """Return the view of a starrer."""
    return StarrerView(starrer.starred_since, user_brief(starrer, base))


def share_view(share: Share) -> ShareView:
    """Return the view of a share."""
    return ShareView(share.id, share.project_id, share.group_id, share.group_access, share.expires_at)


def has_starred(db: Connection, user_id: int, project: Project) -> bool:
    """Return whether a user has starred a project."""
    return star_or_none(db, user_id, project) is not None
