"""Options of groups: attributes that are stored as one JSON document, with GitLab's names.

A description of a field states its effect; other fields are fixed at the value that describes the server.
docs/attributes.md is generated from this struct.
"""

from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ingot.accounts.instance.branch_protection import (
    DEFAULTS,
    LEVEL,
    BranchProtection,
    protection_changes,
    stored_protection,
)
from ingot.core.access.actor import Actor
from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import fixed
from ingot.core.db.times import Date
from ingot.core.errors import Denied
from ingot.projects.namespaces.push_rule import PushRule

PROTECTIONS_SHOWN = (LEVEL, DEFAULTS)
"""Options that the view shows as full protection where the group has none of its own."""
INTERNAL_OPTIONS = ("push_rule", "name_before_deletion", "path_before_deletion")
"""Options that are neither parameters nor shown under their names."""
SHOWN_ONLY_OPTIONS = ("marked_for_deletion_on",)
"""Options that are no parameters."""
ABSENT_GROUP_OPTIONS = {
    "Duo and other services of language models": (
        "duo_availability",
        "duo_features_enabled",
        "experiment_features_enabled",
        "lock_duo_features_enabled",
    ),
    "Minutes of instance runners": (
        "extra_shared_runners_minutes_limit",
        "shared_runners_minutes_limit",
    ),
    "Ban of users after many downloads of projects": (
        "auto_ban_user_on_excessive_projects_download",
        "unique_project_download_limit",
        "unique_project_download_limit_alertlist",
        "unique_project_download_limit_allowlist",
        "unique_project_download_limit_interval_in_seconds",
    ),
    "Members by the domain of their mail address": ("allowed_email_domains_list",),
    "Organizations, and templates of files": (
        "file_template_project_id",
        "organization_id",
    ),
}
"""Options of GitLab by the part that they concern, which this server does not have."""
_Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class GroupOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Options of a group."""

    subgroup_creation_level: Annotated[
        Literal["owner", "maintainer"],
        Meta(description="Level that a member needs to create subgroups."),
        Affected.GROUP_MEMBERS,
    ] = "owner"
    default_branch: (
        Annotated[
            str,
            Meta(max_length=255, description="Default branch of new projects; the nearest group with one decides."),
            Affected.NEW_GROUP_PROJECTS,
        ]
        | None
    ) = None
    default_branch_protection: (
        Annotated[
            Literal[0, 1, 2, 3, 4],
            Meta(description="Protection of the default branch of new projects; without it, the instance's applies."),
            Affected.NEW_GROUP_PROJECTS,
        ]
        | None
    ) = None
    default_branch_protection_defaults: (
        Annotated[
            BranchProtection,
            Meta(
                description="Levels that pushes and merges need by default, whether pushes may be forced, and whether "
                "developers may push the first branch; `default_branch_protection` follows."
            ),
            Affected.NEW_GROUP_PROJECTS,
        ]
        | None
    ) = None
    emails_enabled: Annotated[
        bool, Meta(description="If off, no mail is sent about projects of the group and its subgroups."), Affected.MAILS
    ] = True
    require_two_factor_authentication: Annotated[
        bool,
        Meta(description="Members of the group, its subgroups and its parent groups must set up a second factor."),
        Affected.GROUP_MEMBERS,
    ] = False
    two_factor_grace_period: Annotated[
        _Count, Meta(description="Hours until members must have set up the second factor."), Affected.GROUP_MEMBERS
    ] = 48
    mentions_disabled: Annotated[
        bool, Meta(description="Mentions of the group notify no one."), Affected.GROUP_VISITORS
    ] = False
    auto_devops_enabled: Annotated[bool, fixed("Auto DevOps is not available.")] = False
    show_diff_preview_in_email: Annotated[
        bool,
        Meta(description="If off, mails about all projects below do not show the lines of a diff."),
        Affected.MAILS,
    ] = True
    shared_runners_setting: Annotated[
        Literal["enabled", "disabled_and_overridable", "disabled_and_unoverridable"],
        Meta(
            description="Each change switches the runners of the instance on or off in all projects and subgroups "
            "below, which may enable them again only if that is overridable."
        ),
        Affected.GROUP_PROJECTS,
    ] = "enabled"
    math_rendering_limits_enabled: Annotated[bool, fixed("The limits of formulas cannot be changed.")] = True
    lock_math_rendering_limits_enabled: Annotated[bool, fixed("The limits of formulas cannot be changed.")] = False
    prevent_sharing_groups_outside_hierarchy: Annotated[
        bool,
        Meta(description="Top-level group: groups and projects below are shared only with groups below it."),
        Affected.GROUP_PROJECTS,
    ] = False
    prevent_forking_outside_group: Annotated[
        bool,
        Meta(description="Top-level group: projects below can be forked only into groups below it."),
        Affected.GROUP_PROJECTS,
    ] = False
    membership_lock: Annotated[
        bool,
        Meta(description="No members can be added to projects of the group and its subgroups."),
        Affected.GROUP_PROJECTS,
    ] = False
    wiki_access_level: Annotated[
        Literal["disabled", "private", "enabled"],
        Meta(description="Wiki of the group: none, for members only, or for all who can see the group."),
        Affected.GROUP_VISITORS,
    ] = "enabled"
    only_allow_merge_if_pipeline_succeeds: Annotated[
        bool,
        Meta(description="Merge requests of all projects below require that the pipeline succeeds."),
        Affected.GROUP_PROJECTS,
    ] = False
    allow_merge_on_skipped_pipeline: Annotated[
        bool,
        Meta(description="A skipped pipeline is enough for the requirement of the group."),
        Affected.GROUP_PROJECTS,
    ] = False
    only_allow_merge_if_all_discussions_are_resolved: Annotated[
        bool,
        Meta(description="Merge requests of all projects below require that all discussions are resolved."),
        Affected.GROUP_PROJECTS,
    ] = False
    enabled_git_access_protocol: (
        Annotated[
            Literal["ssh", "http", "all"],
            Meta(description="Top-level group: git access to the projects below is allowed over this protocol only."),
            Affected.GROUP_PROJECTS,
        ]
        | None
    ) = None
    max_artifacts_size: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=2**31 - 1,
                description="Largest artifact archive in megabytes, set by administrators; projects may differ.",
            ),
            Affected.GROUP_PROJECTS,
        ]
        | None
    ) = None
    push_rule: PushRule | None = None
    marked_for_deletion_on: Date | None = None
    name_before_deletion: str | None = None
    path_before_deletion: str | None = None

    def __post_init__(self) -> None:
        """Derive the default protection where only the number was stored."""
        protection = stored_protection(self.default_branch_protection, self.default_branch_protection_defaults)
        msgspec.structs.force_setattr(self, DEFAULTS, protection)


_decode = msgspec.json.Decoder(GroupOptions).decode


@lru_cache(1024)
def group_options(document: str) -> GroupOptions:
    """Return the options of a stored document, with defaults for those that it omits."""
    return _decode(document)


@lru_cache(1024)
def shown_group_options(document: str) -> tuple[Any, ...]:
    """Return the values of the options in the order of the view's fields."""
    options = group_options(document)
    return tuple(
        getattr(options, name)
        for name in GroupOptions.__struct_fields__
        if name not in (*PROTECTIONS_SHOWN, *INTERNAL_OPTIONS)
    )


def require_artifacts_size(actor: Actor, sent: dict[str, Any], current: int | None) -> None:
    """Raise Denied if anyone but an administrator changes the largest size of artifacts."""
    if not actor.admin and sent.get("max_artifacts_size", current) != current:
        raise Denied("Only administrators can change max_artifacts_size")


def edited_group_options(document: str, given: dict[str, Any]) -> str:
    """Return the document with the given options changed; an empty text removes the option."""
    options = group_options(document)
    given = {**given, **protection_changes(options.default_branch_protection_defaults, given)}
    changes = {name: None if given[name] == "" else given[name] for name in options.__struct_fields__ if name in given}
    return msgspec.json.encode(msgspec.structs.replace(options, **changes)).decode()
