"""Options of groups: attributes that are stored as one JSON document, with GitLab's names.

A description of a field states its effect; fields without one are stored and returned only. docs/attributes.md is
generated from this struct.
"""

from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ingot.projects.namespaces.push_rule import PushRule

PROTECTION = "default_branch_protection"
"""Option that the view shows with the default of the instance."""
INTERNAL_OPTIONS = ("push_rule",)
"""Options that are neither parameters nor shown under their names."""
_Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class GroupOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Options of a group."""

    subgroup_creation_level: Annotated[
        Literal["owner", "maintainer"], Meta(description="Level that a member needs to create subgroups.")
    ] = "owner"
    default_branch: Annotated[str, Meta(max_length=255)] | None = None
    default_branch_protection: (
        Annotated[
            Literal[0, 1, 2, 3, 4],
            Meta(description="Protection of the default branch of new projects; without it, the instance's applies."),
        ]
        | None
    ) = None
    emails_enabled: Annotated[
        bool, Meta(description="False sends no mail about projects of the group and its subgroups.")
    ] = True
    require_two_factor_authentication: Annotated[
        bool, Meta(description="Members of the group, its subgroups and its parent groups must set up a second factor.")
    ] = False
    two_factor_grace_period: Annotated[
        _Count, Meta(description="Hours until members must have set up the second factor.")
    ] = 48
    mentions_disabled: Annotated[bool, Meta(description="Mentions of the group notify no one.")] = False
    auto_devops_enabled: bool | None = None
    show_diff_preview_in_email: bool = True
    shared_runners_setting: Literal["enabled", "disabled_and_overridable", "disabled_and_unoverridable"] = "enabled"
    math_rendering_limits_enabled: bool = True
    lock_math_rendering_limits_enabled: bool = False
    prevent_sharing_groups_outside_hierarchy: bool = False
    membership_lock: bool = False
    wiki_access_level: Annotated[
        Literal["disabled", "private", "enabled"],
        Meta(description="Wiki of the group: none, for members only, or for all who can see the group."),
    ] = "enabled"
    only_allow_merge_if_pipeline_succeeds: Annotated[
        bool, Meta(description="Merge requests of all projects below require that the pipeline succeeds.")
    ] = False
    allow_merge_on_skipped_pipeline: Annotated[
        bool, Meta(description="A skipped pipeline is enough for the requirement of the group.")
    ] = False
    only_allow_merge_if_all_discussions_are_resolved: Annotated[
        bool, Meta(description="Merge requests of all projects below require that all discussions are resolved.")
    ] = False
    enabled_git_access_protocol: Literal["ssh", "http", "all"] | None = None
    max_artifacts_size: _Count | None = None
    push_rule: PushRule | None = None


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
        getattr(options, name) for name in GroupOptions.__struct_fields__ if name not in (PROTECTION, *INTERNAL_OPTIONS)
    )


def edited_group_options(document: str, given: dict[str, Any]) -> str:
    """Return the document with the given options changed; an empty text removes the option."""
    options = group_options(document)
    changes = {name: None if given[name] == "" else given[name] for name in options.__struct_fields__ if name in given}
    return msgspec.json.encode(msgspec.structs.replace(options, **changes)).decode()
