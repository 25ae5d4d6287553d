"""Request parameters of protected branches and tags."""

from typing import Literal

from msgspec import UNSET, UnsetType, field

from ingot.core.api.params import Params

RuleLevel = Literal[0, 30, 40, 60]
"""No one, developers, maintainers, administrators."""


class AllowedTo(Params):
    """Permission entry in the format of newer clients: an access level or, for pushes, a deploy key."""

    access_level: RuleLevel | None = None
    user_id: int | None = None
    group_id: int | None = None
    deploy_key_id: int | None = None
    id: int | None = None
    destroy: bool = field(default=False, name="_destroy")


class ListRules(Params):
    """Filter of protection rules."""

    search: str = ""


class AddBranchRule(Params):
    """A new rule for branches."""

    name: str
    push_access_level: RuleLevel | None = None
    merge_access_level: RuleLevel | None = None
    allow_force_push: bool = False
    allowed_to_push: list[AllowedTo] | None = None
    allowed_to_merge: list[AllowedTo] | None = None


class EditBranchRule(Params):
    """Changes of a rule for branches."""

    push_access_level: RuleLevel | None = None
    merge_access_level: RuleLevel | None = None
    allow_force_push: bool | UnsetType = UNSET
    allowed_to_push: list[AllowedTo] | None = None
    allowed_to_merge: list[AllowedTo] | None = None


class AddTagRule(Params):
    """A new rule for tags."""

    name: str
    create_access_level: RuleLevel | None = None
    allowed_to_create: list[AllowedTo] | None = None
