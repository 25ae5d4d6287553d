"""Request parameters of groups."""

from itertools import chain
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.accounts.instance.branch_protection import DEFAULTS, BranchProtectionParams
from ingot.accounts.instance.settings import Visibility
from ingot.core.access.levels import LevelNumber
from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import effect, params_of
from ingot.core.api.params import Params, Upload
from ingot.projects.namespaces.group_options import (
    ABSENT_GROUP_OPTIONS,
    INTERNAL_OPTIONS,
    SHOWN_ONLY_OPTIONS,
    GroupOptions,
)


class ListGroups(Params):
    """Filters of the lists of groups."""

    search: str = ""
    owned: bool = False
    all_available: bool = False
    min_access_level: LevelNumber | None = None
    top_level_only: bool = False
    skip_groups: list[int] | None = None
    statistics: bool = False
    custom_attributes: dict[str, str] | None = None
    with_custom_attributes: bool = False
    visibility: Visibility | None = None
    order_by: Literal["name", "path", "id", "similarity"] = "name"
    sort: Literal["asc", "desc"] = "asc"


ProjectCreation = Literal["noone", "administrator", "owner", "maintainer", "developer"]
"""Level that a member needs to create projects in a group; administrators always may."""


if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _OptionParams = Params
else:
    _OptionParams = params_of(GroupOptions, without=(*INTERNAL_OPTIONS, *SHOWN_ONLY_OPTIONS, DEFAULTS))


class _Attributes(_OptionParams):
    names_unknown: ClassVar[bool] = True
    absent = frozenset(chain.from_iterable(ABSENT_GROUP_OPTIONS.values()))
    emails_disabled: bool | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    visibility: (
        Annotated[
            Visibility,
            effect("Who can see the group: its members, all signed-in users, or everyone.", "that of the instance"),
            Affected.GROUP_VISITORS,
        ]
        | UnsetType
    ) = UNSET
    lfs_enabled: (
        Annotated[
            bool,
            effect(
                "New projects of the group accept large files with Git LFS; each project can decide otherwise.", True
            ),
            Affected.NEW_GROUP_PROJECTS,
        ]
        | UnsetType
    ) = UNSET
    request_access_enabled: (
        Annotated[
            bool,
            effect("Signed-in users who are not members can ask for access to the group.", True),
            Affected.NON_MEMBERS,
        ]
        | UnsetType
    ) = UNSET
    share_with_group_lock: (
        Annotated[
            bool,
            effect("Nobody can share the projects of the group and its subgroups with other groups.", False),
            Affected.GROUP_PROJECTS,
        ]
        | UnsetType
    ) = UNSET
    project_creation_level: (
        Annotated[
            ProjectCreation,
            effect("Role that members need to create projects in the group.", "that of the instance"),
            Affected.GROUP_MEMBERS,
        ]
        | UnsetType
    ) = UNSET
    ip_restriction_ranges: (
        Annotated[
            str,
            Meta(max_length=100_000),
            effect(
                "Top-level group: only from these networks can users reach the projects below; owners can change it.",
                None,
            ),
            Affected.GROUP_PROJECTS,
        ]
        | UnsetType
        | None
    ) = UNSET
    default_branch_protection_defaults: BranchProtectionParams | UnsetType | None = UNSET
    avatar: Upload | UnsetType | None = UNSET


class CreateGroup(_Attributes, kw_only=True):
    """New group."""

    name: str
    path: str
    parent_id: int | None = None


class EditGroup(_Attributes, kw_only=True):
    """Changes of a group."""

    name: str | UnsetType = UNSET
    path: str | UnsetType = UNSET


class SearchGroups(Params):
    """Text to search for in the names and paths of groups."""

    search: str = ""


class TransferGroup(Params):
    """New parent group; the top level if it is omitted."""

    group_id: int | None = None
