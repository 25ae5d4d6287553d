"""Form fields of options whose meaning, default and choices follow from their declaration."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from ingot.core.api.audience import affected_by
from ingot.core.api.declared_fields import default_of, metadata_of
from ingot.projects.groups.params import EditGroup
from ingot.projects.namespaces.group_options import GroupOptions
from ingot.projects.projects.options import ProjectCiOptions, ProjectOptions
from ingot.projects.projects.params import EditProject
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, TemplateResponse, Visit
from ingot.web.projects.forms import FormsState, form_values

PART = "options"
FOR_ADMINISTRATORS = frozenset({"max_artifacts_size", "repository_storage"})
GROUP_LABELS = {
    "subgroup_creation_level": "Roles allowed to create subgroups",
    "default_branch_protection": "Protection of default branches",
    "wiki_access_level": "Wiki",
    "emails_enabled": "Emails about projects",
    "mentions_disabled": "Mentions of the group notify no one",
    "only_allow_merge_if_pipeline_succeeds": "Pipelines must succeed",
    "allow_merge_on_skipped_pipeline": "Skipped pipelines are successful",
    "only_allow_merge_if_all_discussions_are_resolved": "All threads must be resolved",
    "max_artifacts_size": "Largest artifact archive in megabytes",
}
PROJECT_LABELS = {
    "issues_access_level": "Issues",
    "merge_requests_access_level": "Merge requests",
    "builds_access_level": "Pipelines",
    "wiki_access_level": "Wiki",
    "snippets_access_level": "Snippets",
    "container_registry_access_level": "Container registry",
    "forking_access_level": "Forks",
    "releases_access_level": "Releases",
    "environments_access_level": "Environments",
    "feature_flags_access_level": "Feature flags",
    "infrastructure_access_level": "Terraform states",
    "packages_enabled": "Packages",
    "package_registry_access_level": "Package registry",
    "allow_merge_on_skipped_pipeline": "Skipped pipelines are successful",
    "merge_commit_template": "Message of merge commits",
    "squash_commit_template": "Message of squashed commits",
    "suggestion_commit_message": "Message of commits that apply suggestions",
    "ci_separated_caches": "Separate caches of protected branches",
    "max_artifacts_size": "Largest artifact archive in megabytes",
    "repository_storage": "Storage of the repository",
}
CHOICES = {
    "disabled": "Disabled",
    "private": "Only project members",
    "enabled": "Everyone with access",
    "public": "Public (as everyone with access)",
    "owner": "Owners",
    "maintainer": "Maintainers and above",
    "0": "Not protected",
    "1": "Developers push, nobody forces",
    "2": "Maintainers push and merge",
    "3": "Developers merge, maintainers push",
    "4": "Developers push the first commit",
}


_UNIT = re.compile(r"\b(bytes|megabytes|seconds|minutes|hours|days|months)\b", re.IGNORECASE)
_GROUP_STRUCTS: tuple[type[msgspec.Struct], ...] = (EditGroup, GroupOptions)
_PROJECT_STRUCTS: tuple[type[msgspec.Struct], ...] = (EditProject, ProjectOptions, ProjectCiOptions)
"""Declarations of attributes; the stored ones come last, because they state the defaults."""


class DeclaredEffect(NamedTuple):
    """Explanation of an attribute: its effect, its default, and who is affected."""

    effect: str
    default: str
    affected: str


class OptionField(NamedTuple):
    """Field of a form for an option."""

    name: str
    label: str
    kind: Literal["switch", "select", "number", "text"]
    explanation: DeclaredEffect
    choices: dict[str, str]


@lru_cache(16)
def group_fields(*, admin: bool) -> tuple[OptionField, ...]:
    """Return the fields of groups; some are for administrators."""
    return _fields(GROUP_LABELS, admin, *_GROUP_STRUCTS)


@lru_cache(16)
def project_fields(*, admin: bool, storages: tuple[str, ...] = ()) -> tuple[OptionField, ...]:
    """Return the fields of projects; some are for administrators, who choose one of the storages of repositories."""
    choices = {name: name for name in storages}
    return tuple(
        field._replace(kind="select", choices=choices) if field.name == "repository_storage" else field
        for field in _fields(PROJECT_LABELS, admin, *_PROJECT_STRUCTS)
    )


@lru_cache(1)
def project_effects() -> dict[str, DeclaredEffect]:
    """Return the explanation of each attribute of projects."""
    return _effects(*_PROJECT_STRUCTS)


@lru_cache(1)
def group_effects() -> dict[str, DeclaredEffect]:
    """Return the explanation of each attribute of groups."""
    return _effects(*_GROUP_STRUCTS)


@lru_cache(16)
def declared_effects(struct: type[msgspec.Struct]) -> dict[str, DeclaredEffect]:
    """Return the explanation of each optional attribute of a struct, from its declaration."""
    hints = get_type_hints(struct, include_extras=True)
    effects = {}
    for field in msgspec.structs.fields(struct):
        if not field.required:
            hint = hints[field.name]
            effect = next((meta.description for meta in metadata_of(hint) if meta.description), "")
            default = _shown_default(default_of(field, hint), effect)
            effects[field.name] = DeclaredEffect(effect, default, affected_by(hint) or "")
    return effects


def save_options(
    visit: Visit,
    fields: tuple[OptionField, ...],
    shown: Any,
    save: Callable[[Mapping[str, Any]], object],
    show_errors: Callable[[FormsState], TemplateResponse],
    url: str,
) -> PageResponse:
    """Save the values that differ from those shown, so that inherited ones stay inherited."""
    flags = [field.name for field in fields if field.kind == "switch"]
    typed = form_values(visit, PART, [field.name for field in fields if field.kind != "switch"], flags)
    changed = {name: value for name, value in typed.items() if _text(value) != _text(getattr(shown, name))}
    try:
        if changed:
            save(changed)
    except REQUEST_ERRORS as error:
        return show_errors(FormsState(PART, typed, error_messages(error)))
    return LocalRedirect(url)


def _text(value: Any) -> str:
    return "" if value in (None, False) else "1" if value is True else str(value).replace("\r\n", "\n")


def _fields(labels: Mapping[str, str], admin: bool, *structs: type[msgspec.Struct]) -> tuple[OptionField, ...]:
    hints = {name: hint for struct in structs for name, hint in get_type_hints(struct).items()}
    effects = _effects(*structs)
    return tuple(
        OptionField(name, label, _kind(hints[name]), effects[name], _choices(hints[name]))
        for name, label in labels.items()
        if admin or name not in FOR_ADMINISTRATORS
    )


def _effects(*structs: type[msgspec.Struct]) -> dict[str, DeclaredEffect]:
    return {name: effect for struct in structs for name, effect in declared_effects(struct).items()}


def _kind(hint: Any) -> Literal["switch", "select", "number", "text"]:
    if _choices(hint):
        return "select"
    parts = {hint, *get_args(hint)}
    return "switch" if bool in parts else "number" if int in parts else "text"


def _choices(hint: Any) -> dict[str, str]:
    """Return the labels of the choices of a type, if it is one of choices."""
    literals = [part for part in (hint, *get_args(hint)) if get_origin(part) is Literal]
    return {str(choice): CHOICES[str(choice)] for part in literals for choice in get_args(part)}


def _shown_default(value: Any, effect: str) -> str:
    """Return a default as a text; that of a number ends with the unit that the effect names, if it names one."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        value = ", ".join(value)
    if isinstance(value, dict):
        value = ", ".join(f"{name} {number}" for name, number in value.items())
    unit = _UNIT.search(effect)
    if unit is not None and isinstance(value, int) and value:
        return f"{value} {unit[1].lower()}"
    return "none" if value in (None, "") else str(value)
