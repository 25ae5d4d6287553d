"""Response structs of protected branches and tags."""

from collections.abc import Mapping, Sequence

from ingot.core.access.levels import Level
from ingot.core.api.views import View
from ingot.repositories.protection.tables import ProtectedBranch, ProtectedTag, RuleDeployKey

_LEVEL_NAMES: dict[int, str] = {
    Level.NONE: "No one",
    Level.DEVELOPER: "Developers + Maintainers",
    Level.MASTER: "Maintainers",
}
_ADMINISTRATORS = "Instance admins"


class AccessLevelView(View):
    """Access level of a rule, or a deploy key that it names; users and groups are not supported."""

    id: int
    access_level: int
    access_level_description: str
    user_id: None = None
    group_id: None = None
    deploy_key_id: int | None = None


class ProtectedBranchView(View):
    """Protection rule for branches."""

    id: int
    name: str
    push_access_levels: list[AccessLevelView]
    merge_access_levels: list[AccessLevelView]
    allow_force_push: bool
    inherited: bool = False


class ProtectedTagView(View):
    """Protection rule for tags."""

    name: str
    create_access_levels: list[AccessLevelView]


def protected_branch_view(rule: ProtectedBranch, keys: Mapping[int, Sequence[RuleDeployKey]]) -> ProtectedBranchView:
    """Return the view of a rule for branches; ``keys`` are the deploy keys by the id of the rule."""
    deploy_keys = () if rule.inherited else keys.get(rule.id, ())
    return ProtectedBranchView(
        id=rule.id,
        name=rule.name,
        push_access_levels=[_level_view(rule.id, rule.push_level), *map(_deploy_key_view, deploy_keys)],
        merge_access_levels=[_level_view(rule.id, rule.merge_level)],
        allow_force_push=rule.allow_force_push,
        inherited=bool(rule.inherited),
    )


def protected_tag_view(rule: ProtectedTag) -> ProtectedTagView:
    """Return the view of a rule for tags."""
    return ProtectedTagView(rule.name, [_level_view(rule.id, rule.create_level)])


def _level_view(rule_id: int, level: int) -> AccessLevelView:
    return AccessLevelView(rule_id, level, _LEVEL_NAMES.get(level, _ADMINISTRATORS))


def _deploy_key_view(key: RuleDeployKey) -> AccessLevelView:
    return AccessLevelView(key.id, Level.MASTER, key.title, deploy_key_id=key.key_id)
