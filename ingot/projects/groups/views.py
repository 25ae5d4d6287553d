"""Response structs of groups."""

from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET, UnsetType

from ingot.accounts.instance.branch_protection import FULL, PROTECTIONS, BranchProtection, level_of
from ingot.accounts.users.tables import User
from ingot.accounts.users.views import CustomAttributeView
from ingot.core.access.actor import Actor
from ingot.core.api.declared_fields import view_of
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import Date, Timestamp
from ingot.projects.groups import policy
from ingot.projects.groups.params import ListGroups
from ingot.projects.groups.queries import find_group, list_groups
from ingot.projects.namespaces.group_options import (
    INTERNAL_OPTIONS,
    PROTECTIONS_SHOWN,
    GroupOptions,
    shown_group_options,
)
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.namespaces.views import group_avatar_url


class GroupStatisticsView(View):
    """Storage used by the projects of a group, in bytes."""

    storage_size: int
    repository_size: int
    lfs_objects_size: int
    job_artifacts_size: int


class SharedGroupView(View):
    """Group that a group or project is shared with."""

    group_id: int
    group_name: str
    group_full_path: str
    group_access_level: int
    expires_at: Date | None


class GroupBrief(View):
    """Group inside other responses."""

    id: int
    web_url: str
    name: str
    avatar_url: str | None
    full_name: str
    full_path: str


class _GroupId(View):
    id: int


if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _OptionsView = _GroupId
else:
    _OptionsView = view_of(_GroupId, GroupOptions, (*PROTECTIONS_SHOWN, *INTERNAL_OPTIONS))


class GroupView(_OptionsView):
    """Group."""

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
    default_branch_protection: int
    default_branch_protection_defaults: BranchProtection
    emails_disabled: bool
    full_name: str
    full_path: str
    parent_id: int | None
    created_at: Timestamp
    statistics: GroupStatisticsView | UnsetType = UNSET
    custom_attributes: list[CustomAttributeView] | UnsetType = UNSET
    ip_restriction_ranges: str | UnsetType | None = UNSET


def group_brief(group: Namespace, base: str) -> GroupBrief:
    """Return the brief view of a group."""
    web_url = f"{base}/groups/{group.full_path}"
    return GroupBrief(group.id, web_url, group.name, group_avatar_url(group, base), group.full_name, group.full_path)


def group_view(group: Namespace, base: str) -> GroupView:
    """Return the view of a group."""
    protection_defaults = group.options.default_branch_protection_defaults or PROTECTIONS[FULL]
    fields = (
        group.id,
        *shown_group_options(group.options_document),
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
        level_of(protection_defaults),
        protection_defaults,
        not group.options.emails_enabled,
        group.full_name,
        group.full_path,
        group.parent_id,
        group.created_at,
    )
    return GroupView(*fields)


def visible_group_views(db: Connection, actor: Actor, search: str, page: Page, base: str) -> Listing[GroupView]:
    """List all groups that the caller may see, signed in or not."""
    found = list_groups(db, actor, ListGroups(search=search, all_available=True), page)
    return found.of([group_view(group, base) for group in found.items])


class GroupOffers(NamedTuple):
    """Actions in a group that a user has permission for."""

    project: bool
    subgroup: bool


def group_offers(db: Connection, actor: Actor, user: User, group_id: int) -> GroupOffers:
    """Return what the caller may add to a group."""
    access, group = find_group(db, actor, group_id)
    return GroupOffers(
        policy.may_create_project_in(actor, access, group), policy.may_create_subgroup(actor, access, group, user)
    )
