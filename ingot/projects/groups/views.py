"""What callers see of groups."""

from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import CustomAttributeView
from ingot.core.api.views import View
from ingot.core.db.times import Date, Timestamp
from ingot.projects.namespaces.tables import Namespace


class GroupStatisticsView(View):
    """How much there is in the projects of a group."""

    storage_size: int
    repository_size: int
    lfs_objects_size: int
    job_artifacts_size: int


class SharedGroupView(View):
    """A group with which a group or project was shared."""

    group_id: int
    group_name: str
    group_full_path: str
    group_access_level: int
    expires_at: Date | None


class GroupBrief(View):
    """A group wherever one is only named."""

    id: int
    web_url: str
    name: str
    avatar_url: str | None
    full_name: str
    full_path: str


class GroupView(View):
    """A group."""

    id: int
    name: str
    path: str
    description: str
    visibility: str
    lfs_enabled: bool
    avatar_url: str | None
    web_url: str
    request_access_enabled: bool
    share_with_group_lock: bool
    project_creation_level: str
    full_name: str
    full_path: str
    parent_id: int | None
    created_at: Timestamp
    statistics: GroupStatisticsView | UnsetType = UNSET
    custom_attributes: list[CustomAttributeView] | UnsetType = UNSET


def group_avatar_url(group: Namespace, base: str) -> str | None:
    """The group's picture."""
    if group.avatar_id is None:
        return None
    return f"{base}/uploads/-/system/group/avatar/{group.id}/{group.avatar_file}"


def group_brief(group: Namespace, base: str) -> GroupBrief:
    """The group in brief."""
    place = f"{base}/groups/{group.full_path}"
    return GroupBrief(group.id, place, group.name, group_avatar_url(group, base), group.full_name, group.full_path)


def group_view(group: Namespace, base: str) -> GroupView:
    """The group for whoever may see it."""
    return GroupView(
        group.id,
        group.name,
        group.path,
        group.description,
        group.visibility,
        group.lfs_enabled,
        group_avatar_url(group, base),
        f"{base}/groups/{group.full_path}",
        group.request_access_enabled,
        group.share_with_group_lock,
        group.project_creation_level,
        group.full_name,
        group.full_path,
        group.parent_id,
        group.created_at,
    )
