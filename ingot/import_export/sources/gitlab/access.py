"""Members, protected branches and tags, webhooks, deploy keys, variables and badges of GitLab's API as records."""

from collections.abc import Mapping, Sequence
from typing import Any

from ingot.import_export.records import (
    BadgeRecord,
    DeployKeyRecord,
    HookRecord,
    MemberRecord,
    ProtectedEnvironmentRecord,
    ProtectedRefRecord,
    VariableRecord,
)
from ingot.import_export.sources.gitlab.shapes import (
    GitLabAccessLevel,
    GitLabBadge,
    GitLabDeployKey,
    GitLabProtectedEnvironment,
    GitLabProtectedRef,
    GitLabUser,
    GitLabVariable,
)
from ingot.import_export.sources.gitlab.users import GitLabUsers

_HIGHEST_LEVEL = 40


def member_records(users: GitLabUsers, members: Sequence[GitLabUser]) -> list[MemberRecord]:
    """Build the records of direct members."""
    return [
        MemberRecord(user=users.record(member), access_level=member.access_level, expires_at=member.expires_at)
        for member in members
    ]


def protected_ref_records(refs: Sequence[GitLabProtectedRef]) -> list[ProtectedRefRecord]:
    """Build the records of protected branches or tags."""
    return [
        ProtectedRefRecord(
            name=ref.name,
            push_level=_lowest(ref.push_access_levels),
            merge_level=_lowest(ref.merge_access_levels),
            create_level=_lowest(ref.create_access_levels),
            allow_force_push=bool(ref.allow_force_push),
        )
        for ref in refs
    ]


def protected_environment_records(rules: Sequence[GitLabProtectedEnvironment]) -> list[ProtectedEnvironmentRecord]:
    """Build the records of protected environments."""
    records = []
    for rule in rules:
        levels = [each.access_level for each in rule.deploy_access_levels]
        known = tuple(level for level in levels if level is not None)
        records.append(ProtectedEnvironmentRecord(name=rule.name, access_levels=known, others=None in levels))
    return records


def hook_records(hooks: Sequence[Mapping[str, Any]]) -> list[HookRecord]:
    """Build the records of webhooks; each flag that ends in ``_events`` and is set becomes an event."""
    return [
        HookRecord(
            key=str(hook["id"]),
            url=str(hook["url"]),
            events=sorted(name for name, value in hook.items() if name.endswith("_events") and value is True),
            enable_ssl_verification=hook.get("enable_ssl_verification") is not False,
            push_events_branch_filter=_text(hook, "push_events_branch_filter"),
            branch_filter_strategy=_text(hook, "branch_filter_strategy"),
            name=_text(hook, "name"),
            description=_text(hook, "description"),
            created_at=_text(hook, "created_at"),
        )
        for hook in hooks
        if "id" in hook and "url" in hook
    ]


def deploy_key_records(keys: Sequence[GitLabDeployKey]) -> list[DeployKeyRecord]:
    """Build the records of deploy keys."""
    return [
        DeployKeyRecord(
            key=str(key.id), title=key.title, public_key=key.key, can_push=key.can_push, created_at=key.created_at
        )
        for key in keys
    ]


def variable_records(variables: Sequence[GitLabVariable]) -> list[VariableRecord]:
    """Build the records of the variables whose value is shown; hidden ones have none."""
    return [
        VariableRecord(
            name=variable.key,
            value=variable.value,
            variable_type=variable.variable_type,
            protected=variable.protected,
            masked=variable.masked,
            raw=variable.raw,
            environment_scope=variable.environment_scope,
            description=variable.description,
        )
        for variable in variables
        if variable.value is not None
    ]


def badge_records(badges: Sequence[GitLabBadge], kind: str) -> list[BadgeRecord]:
    """Build the records of the badges of a project or of a group; a project's list contains both."""
    return [
        BadgeRecord(key=str(badge.id), link_url=badge.link_url, image_url=badge.image_url, name=badge.name)
        for badge in badges
        if badge.kind == kind
    ]


def _lowest(levels: Sequence[GitLabAccessLevel]) -> int:
    """Return the lowest role that is allowed; 0 if none is."""
    roles = [level.access_level for level in levels if level.access_level is not None]
    allowed = [role for role in roles if role > 0]
    if allowed:
        return min(allowed)
    return 0 if roles else _HIGHEST_LEVEL


def _text(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    return value if isinstance(value, str) and value else None
