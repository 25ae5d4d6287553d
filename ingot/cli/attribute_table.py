"""The tables of stored attributes that ``make attributes`` writes to docs/attributes.md."""

import types
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT

from ingot.accounts.instance.all_settings import AllSettings
from ingot.accounts.instance.settings import InstanceSettings
from ingot.accounts.users.details import UserDetails
from ingot.projects.namespaces.group_options import INTERNAL_OPTIONS, GroupOptions
from ingot.projects.projects.options import INTERNAL, ProjectCiOptions, ProjectOptions

_OPENING = """# Attributes that clients of GitLab send

`make attributes` writes this page from the declarations, and a test compares the two. Every attribute is checked (the
response to a wrong type or value is 400), stored and returned. The table states the effect of an attribute; others have
none, because the feature behind them does not exist here. Settings that are not listed are in [settings](settings.md).

Keys, tokens and passwords of external services are not accepted as settings. The levels `issues_access_level`,
`merge_requests_access_level`, `builds_access_level`, `wiki_access_level`, `snippets_access_level` and
`container_registry_access_level` switch the features; `private` admits members only, and for merge requests and
container images reporters. With `builds_access_level` disabled, pipelines stay readable, because other CI servers post
statuses to them.

Templates of commit messages know the variables `%{source_branch}`, `%{target_branch}`, `%{title}`, `%{description}`,
`%{issues}`, `%{reference}`, `%{local_reference}`, `%{source_project_id}`, `%{url}`, `%{first_commit}`,
`%{first_multiline_commit}`, `%{first_multiline_commit_description}`, `%{all_commits}`, `%{co_authored_by}`,
`%{merge_request_author}`, `%{merged_by}`, `%{approved_by}` and `%{reviewed_by}`; the message of suggestions knows
`%{suggestions_count}`, `%{files_count}`, `%{branch_name}`, `%{project_path}` and `%{project_name}`.

## Licensed features of GitLab

Approval rules of merge requests (`approvals_before_merge`, `/approval_rules`), push rules, pull mirrors and protected
branches of groups are included. Not included: merge trains, epics, weights, code owners, roles of your own, external
status checks and Geo.

## Webhooks

Webhooks store and return `emoji_events`, `resource_access_token_events`, `resource_deploy_token_events`,
`vulnerability_events`, `deployment_events` and `feature_flag_events`, but do not send them. Milestone events are sent
for created, closed and reopened milestones of projects. A `custom_webhook_template` replaces the payload.

## Approvals

With `merge_requests_disable_committers_approval`, committers of a merge request cannot approve it, and a push removes
the approval of its user. Passwords before approvals and removals of code owners are stored only.
"""
_HEAD = "| Attribute | Type | Default | Effect |\n|---|---|---|---|"


def attribute_table() -> str:
    """Return the whole page."""
    sections = (
        ("Projects", ProjectOptions, INTERNAL),
        ("Projects: CI, for administrators of the project", ProjectCiOptions, ()),
        ("Groups", GroupOptions, INTERNAL_OPTIONS),
        ("Users, for administrators", UserDetails, ()),
        ("Application settings", AllSettings, InstanceSettings.__struct_fields__),
    )
    parts = [f"\n## {title}\n\n{_HEAD}\n" + "".join(_rows(struct, without)) for title, struct, without in sections]
    return _OPENING + "".join(parts)


def _rows(struct: type[msgspec.Struct], without: Iterable[str]) -> Iterator[str]:
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        if field.name not in without:
            default = field.default_factory() if field.default is NODEFAULT else field.default
            effect = _effect(hints[field.name]) or "stored only"
            shown = msgspec.json.encode(default).decode()
            yield f"| `{field.name}` | {_type_name(hints[field.name])} | `{shown}` | {effect} |\n"


def _effect(hint: Any) -> str:
    """Return the description in a type, if it has one."""
    if get_origin(hint) is Annotated:
        return next((meta.description for meta in hint.__metadata__ if meta.description), "")
    return next(filter(None, map(_effect, get_args(hint))), "") if _is_union(hint) else ""


def _type_name(hint: Any) -> str:
    if _is_union(hint):
        return _type_name(next(part for part in get_args(hint) if part is not type(None)))
    if get_origin(hint) is Annotated:
        return _type_name(get_args(hint)[0])
    if get_origin(hint) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(hint))
    names = {bool: "boolean", int: "integer", float: "number", str: "text"}
    return names.get(hint, "list of texts")


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


if __name__ == "__main__":
    print(attribute_table(), end="")
