"""The tables of stored attributes that ``make attributes`` writes to docs/attributes.md."""

import types
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET

from ingot.accounts.instance.absent_settings import ABSENT_SETTINGS
from ingot.accounts.instance.all_settings import AllSettings
from ingot.accounts.users.details import UserDetails
from ingot.collaboration.merge_requests.approval_settings.params import EditApprovalSettings
from ingot.core.api.audience import affected_by
from ingot.core.api.declared_fields import default_of, fixed_reason, metadata_of
from ingot.projects.groups.params import EditGroup
from ingot.projects.namespaces.group_options import (
    ABSENT_GROUP_OPTIONS,
    INTERNAL_OPTIONS,
    SHOWN_ONLY_OPTIONS,
    GroupOptions,
)
from ingot.projects.projects.options import ABSENT_OPTIONS, INTERNAL, SHOWN_ONLY, ProjectCiOptions, ProjectOptions
from ingot.projects.projects.params import EditProject
from ingot.sites.project_pages.params import EditPages

_OPENING = """# Attributes that clients of GitLab send

`make attributes` writes this page from the declarations, and a test compares the two. Every attribute that a response
contains and a request may set belongs to one of three groups:

- An **effective** attribute does what the table states, for those whom it affects.
- A **fixed** attribute always has the value in the table, because the server cannot behave otherwise. A request with
  another value is refused with 400 and changes nothing.
- An **absent** attribute concerns a part of GitLab that this server does not have. Responses do not contain it. A
  request may; the response then names it in the header `X-Ingot-Ignored`, like every unknown attribute. A list of more
  than 2,000 bytes ends with `... and N more`.

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
branches of groups are included. Not included: epics, weights, code owners, roles of your own, external
status checks and Geo.

## Webhooks

The events `emoji_events`, `resource_access_token_events`, `resource_deploy_token_events`, `vulnerability_events`,
`deployment_events` and `feature_flag_events` are not sent, so that true is refused with 400. Milestone events are sent
for created, closed and reopened milestones of projects. A `custom_webhook_template` replaces the payload.

## Approvals

With `merge_requests_disable_committers_approval`, committers of a merge request cannot approve it, and a push removes
the approval of its user. With `require_password_to_approve`, `POST …/approve` needs `approval_password`, and the quick
action `/approve` does nothing. Settings of the instance with the names `prevent_merge_requests_author_approval`,
`prevent_merge_requests_committers_approval` and `disable_overriding_approvers_per_merge_request` take precedence.
There are no code owners: `selective_code_owner_removals` cannot be true.
"""
_HEAD = "| Attribute | Type | Default | Effect | Affects |\n|---|---|---|---|---|"


def attribute_table() -> str:
    """Return the whole page."""
    sections = (
        ("Projects", EditProject, _undeclared(EditProject)),
        ("Projects: further options", ProjectOptions, (*INTERNAL, *SHOWN_ONLY)),
        ("Projects: CI, for administrators of the project", ProjectCiOptions, ()),
        (
            "Projects: approvals (`POST /projects/:id/approvals`)",
            EditApprovalSettings,
            _undeclared(EditApprovalSettings),
        ),
        ("Projects: Pages (`PATCH /projects/:id/pages`)", EditPages, _undeclared(EditPages)),
        ("Groups", EditGroup, _undeclared(EditGroup)),
        ("Groups: further options", GroupOptions, (*INTERNAL_OPTIONS, *SHOWN_ONLY_OPTIONS)),
        ("Users, for administrators", UserDetails, ()),
        ("Application settings", AllSettings, ()),
    )
    parts = [f"\n## {title}\n\n{_HEAD}\n" + "".join(_rows(struct, without)) for title, struct, without in sections]
    absent = ("\n## Absent attributes\n\n| Sent to | Part of GitLab | Attributes |\n|---|---|---|\n", *_absent_rows())
    return _OPENING + "".join(parts) + "".join(absent)


def _undeclared(params: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the parameters that state no effect of their own, or that a struct of options declares."""
    hints = get_type_hints(params, include_extras=True)
    declared = {
        field.name for field in msgspec.structs.fields(params) if default_of(field, hints[field.name]) is not UNSET
    }
    return tuple(name for name in hints if name not in declared)


def _absent_rows() -> Iterator[str]:
    subjects = (("Projects", ABSENT_OPTIONS), ("Groups", ABSENT_GROUP_OPTIONS), ("Settings", ABSENT_SETTINGS))
    for subject, parts in subjects:
        for part, names in parts.items():
            yield f"| {subject} | {part} | {', '.join(f'`{name}`' for name in names)} |\n"


def _rows(struct: type[msgspec.Struct], without: Iterable[str]) -> Iterator[str]:
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        if field.name not in without:
            hint = hints[field.name]
            cells = f"`{field.name}`", _type_name(hint), _default(default_of(field, hint)), _effect(hint)
            yield f"| {' | '.join((*cells, affected_by(hint) or ''))} |\n"


def _default(value: Any) -> str:
    """Return a default as JSON, or the words that state where it comes from."""
    return value if isinstance(value, str) and " " in value else f"`{msgspec.json.encode(value).decode()}`"


def _effect(hint: Any) -> str:
    """Return the description in a type, or why its value is fixed."""
    effect = next((meta.description for meta in metadata_of(hint) if meta.description), "")
    return effect or f"Fixed. {fixed_reason(hint)}"


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
