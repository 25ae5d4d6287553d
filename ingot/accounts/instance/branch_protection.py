"""Default protection of branches of new projects: GitLab's object, and the number that stood for it before."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ingot.core.access.levels import Level
from ingot.core.api.params import Params, given_fields

LEVEL, DEFAULTS = "default_branch_protection", "default_branch_protection_defaults"
"""Names of the number and of the object."""
UNPROTECTED, DEVELOPERS_PUSH, FULL, DEVELOPERS_MERGE, DEVELOPERS_START = range(5)


class AllowedLevel(msgspec.Struct, frozen=True):
    """Level that pushes or merges need; 0 allows no one."""

    access_level: int = Level.MASTER


class BranchProtection(msgspec.Struct, frozen=True):
    """Protection of the default branch of a new project."""

    allowed_to_push: tuple[AllowedLevel, ...] = (AllowedLevel(),)
    allow_force_push: bool = False
    allowed_to_merge: tuple[AllowedLevel, ...] = (AllowedLevel(),)
    developer_can_initial_push: bool = False

    @property
    def push_level(self) -> int:
        """Level that pushes need."""
        return self.allowed_to_push[0].access_level

    @property
    def merge_level(self) -> int:
        """Level that merges need."""
        return self.allowed_to_merge[0].access_level

    @property
    def admits_first_push(self) -> bool:
        """Whether developers may push the first branch of an empty project."""
        return self.developer_can_initial_push or self.push_level == Level.DEVELOPER


class AllowedLevelParams(Params):
    """Level that pushes or merges need."""

    access_level: Literal[0, 30, 40, 60]


_Allowed = Annotated[list[AllowedLevelParams], Meta(min_length=1, max_length=1)]


class BranchProtectionParams(Params):
    """Changes of the protection; what is omitted stays."""

    allowed_to_push: _Allowed | UnsetType = UNSET
    allow_force_push: bool | UnsetType = UNSET
    allowed_to_merge: _Allowed | UnsetType = UNSET
    developer_can_initial_push: bool | UnsetType = UNSET


_DEVELOPERS = (AllowedLevel(Level.DEVELOPER),)
PROTECTIONS = {
    UNPROTECTED: BranchProtection(_DEVELOPERS, True, _DEVELOPERS),
    DEVELOPERS_PUSH: BranchProtection(allowed_to_push=_DEVELOPERS),
    FULL: BranchProtection(),
    DEVELOPERS_MERGE: BranchProtection(allowed_to_merge=_DEVELOPERS),
    DEVELOPERS_START: BranchProtection(developer_can_initial_push=True),
}
"""Objects by the number."""


def level_of(protection: BranchProtection | None) -> int | None:
    """Return the number that describes a protection best."""
    if protection is None:
        return None
    for level, each in PROTECTIONS.items():
        if protection == each:
            return level
    if protection.push_level == Level.DEVELOPER:
        return DEVELOPERS_PUSH
    if protection.merge_level == Level.DEVELOPER:
        return DEVELOPERS_MERGE
    return DEVELOPERS_START if protection.developer_can_initial_push else FULL


def stored_protection(level: int | None, protection: BranchProtection | None) -> BranchProtection | None:
    """Return the object of a stored document, which has only the number if an older version wrote it."""
    return protection if level_of(protection) == level or level is None else PROTECTIONS[level]


def protection_changes(protection: BranchProtection | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new number and object if a request contains one of them.

    If it contains both, the one that differs from before counts; a number alone replaces the object.
    """
    changed, sent = protection, given.get(DEFAULTS, UNSET)
    if isinstance(sent, BranchProtectionParams):
        values = given_fields(sent)
        for name in ("allowed_to_push", "allowed_to_merge"):
            if name in values:
                values[name] = tuple(AllowedLevel(each.access_level) for each in values[name])
        changed = msgspec.structs.replace(protection or PROTECTIONS[FULL], **values)
    elif sent is None:
        changed = None
    level = given.get(LEVEL, UNSET)
    if level is not UNSET and (sent is UNSET or (changed == protection and level != level_of(protection))):
        changed = None if level is None else PROTECTIONS[level]
    return {LEVEL: level_of(changed), DEFAULTS: changed} if {LEVEL, DEFAULTS} & given.keys() else {}
