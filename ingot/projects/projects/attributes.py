"""Attributes of projects: conversion of parameters to columns, defaults and validation."""

import re
import secrets
import unicodedata
from typing import Any

from msgspec import UNSET

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.instance.settings import InstanceSettings, current_settings
from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied, Invalid, too_long_message
from ingot.core.names import RESERVED_PROJECTS, path_error, project_name_error
from ingot.projects.groups.service import VISIBILITY_ORDER
from ingot.projects.members.queries import highest_level
from ingot.projects.namespaces.queries import namespace_by_path
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.branch_patterns import branch_matcher, require_branch_template
from ingot.projects.projects.cleanup_policy import edited_policy
from ingot.projects.projects.option_rules import consistent_options
from ingot.projects.projects.options import edited_options, project_ci_options, project_options
from ingot.projects.projects.params import ProjectAttributes
from ingot.projects.projects.queries import (
    count_personal_projects,
    project_id_by_name_or_none,
    project_id_by_path_or_none,
    project_or_none,
)

MAX_LENGTH = 255
MAX_DESCRIPTION_LENGTH = 1_000_000
_COUNTERS = (
    "forks_count",
    "star_count",
    "open_issues_count",
    "commit_count",
    "repository_size",
    "lfs_objects_size",
    "job_artifacts_size",
)
_FLAGS = (
    "issues_enabled",
    "merge_requests_enabled",
    "jobs_enabled",
    "wiki_enabled",
    "snippets_enabled",
    "container_registry_enabled",
    "shared_runners_enabled",
    "public_jobs",
    "only_allow_merge_if_pipeline_succeeds",
    "only_allow_merge_if_all_discussions_are_resolved",
    "lfs_enabled",
    "request_access_enabled",
    "printing_merge_request_link_enabled",
    "remove_source_branch_after_merge",
)
STORED_AS_SENT = (
    *_FLAGS,
    *("description", "visibility", "ci_config_path", "merge_method", "squash_option", "repository_access_level"),
)
_ALIASES = {
    "public_builds": "public_jobs",
    "printing_merge_requests_link_enabled": "printing_merge_request_link_enabled",
}
# Newer clients send access levels instead of flags; if both are sent, the level takes precedence.
FEATURE_LEVELS = {
    "issues_access_level": "issues_enabled",
    "merge_requests_access_level": "merge_requests_enabled",
    "builds_access_level": "jobs_enabled",
    "wiki_access_level": "wiki_enabled",
    "snippets_access_level": "snippets_enabled",
    "container_registry_access_level": "container_registry_enabled",
}
_CI_SETTINGS = {
    "build_timeout": "build_timeout",
    "build_coverage_regex": "build_coverage_regex",
    "build_git_strategy": "build_git_strategy",
    "ci_default_git_depth": "default_git_depth",
    "auto_cancel_pending_pipelines": "auto_cancel_pending_pipelines",
    "keep_latest_artifact": "keep_latest_artifact",
    "group_runners_enabled": "group_runners_enabled",
}
"""Columns of settings that the package of CI stores, by parameter."""
_OFF_BY_DEFAULT = ("only_allow_merge_if_pipeline_succeeds", "only_allow_merge_if_all_discussions_are_resolved")


def path_from_name(name: str) -> str:
    """Return the path of a project whose name alone was given: lowercase ASCII with dashes.

    Of a name that is too long, it is the path of a start that is too long as well.
    """
    ascii_name = unicodedata.normalize("NFKD", name[: MAX_LENGTH + 1]).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9_]+", "-", ascii_name.lower()).strip("-")


def columns_from_params(params: ProjectAttributes) -> dict[str, Any]:
    """Return the columns to store, from any of the parameters' alternative names."""
    sent = given_fields(params)
    columns = {flag: sent[alias] for alias, flag in _ALIASES.items() if alias in sent}
    columns |= {name: sent[name] for name in STORED_AS_SENT if name in sent}
    columns |= {flag: sent[level] != "disabled" for level, flag in FEATURE_LEVELS.items() if level in sent}
    if "ci_config_path" in columns:
        columns["ci_config_path"] = columns["ci_config_path"] or None
    return columns


def options_from_params(params: ProjectAttributes, document: str, now: Timestamp) -> str:
    """Return the document of a project's options with the given ones changed; raise Invalid for an invalid pattern."""
    sent = given_fields(params)
    if "emails_disabled" in sent:
        sent.setdefault("emails_enabled", not sent["emails_disabled"])
    if sent.get("mirror_branch_regex"):
        branch_matcher(sent["mirror_branch_regex"])
    if sent.get("merge_request_title_regex"):
        branch_matcher(sent["merge_request_title_regex"], "merge_request_title_regex")
    if sent.get("issue_branch_template"):
        require_branch_template(sent["issue_branch_template"])
    private: set[str] = set(project_options(document).private_features)
    for level, flag in FEATURE_LEVELS.items():
        feature = level.removesuffix("_access_level")
        remains = feature in private and level not in sent and sent.get(flag) is not False
        private.discard(feature)
        if remains or sent.get(level) == "private":
            private.add(feature)
    if params.container_expiration_policy_attributes is not UNSET:
        policy = project_options(document).container_expiration_policy
        changes = params.container_expiration_policy_attributes
        sent["container_expiration_policy"] = edited_policy(policy, changes, now)
    sent = consistent_options(sent, project_ci_options(document))
    return edited_options(document, {**sent, "private_features": sorted(private)})


def ci_settings_from_params(params: ProjectAttributes) -> dict[str, Any]:
    """Return the given settings for CI by column."""
    sent = given_fields(params)
    settings = {column: sent[name] for name, column in _CI_SETTINGS.items() if name in sent}
    if "auto_cancel_pending_pipelines" in settings:
        settings["auto_cancel_pending_pipelines"] = settings["auto_cancel_pending_pipelines"] == "enabled"
    return settings


def default_columns(db: Connection, settings: InstanceSettings) -> dict[str, Any]:
    """Return the default columns of a new project."""
    return {
        "archived": False,
        **{flag: flag not in _OFF_BY_DEFAULT for flag in _FLAGS},
        "shared_runners_enabled": settings.shared_runners_enabled,
        "import_status": "none",
        "runners_token": db.vault.seal(secrets.token_urlsafe(20)),
        "empty": True,
        **dict.fromkeys(_COUNTERS, 0),
        "created_at": db.now,
        "updated_at": db.now,
        "last_activity_at": db.now,
    }


def default_visibility(default: str, namespace: Namespace) -> str:
    """Return the default visibility, lowered to that of the group."""
    if namespace.kind == "group" and VISIBILITY_ORDER[default] > VISIBILITY_ORDER[namespace.visibility]:
        return namespace.visibility
    return default


def check_not_placeholder_namespace(db: Connection, namespace: Namespace) -> None:
    """Raise Invalid for the namespace of a placeholder user, who cannot sign in to manage a project."""
    if namespace.owner_id is not None and find_user(db, namespace.owner_id).placeholder:
        raise Invalid(namespace=["is not valid"])


def check_projects_limit(db: Connection, actor: Actor, namespace: Namespace) -> None:
    """Raise Denied if a user has reached the limit of personal projects."""
    if namespace.kind != "user" or actor.admin or namespace.owner_id is None:
        return
    allowed = all_settings(db).allow_project_creation_for_guest_and_below
    if not allowed and highest_level(db, namespace.owner_id) <= Level.GUEST:
        raise Denied("Users who are no more than guests cannot create projects")
    limit = find_user(db, namespace.owner_id).projects_limit
    if count_personal_projects(db, namespace.id) >= limit:
        raise Denied(f"Your project limit is {limit} projects! Please contact your administrator to increase it")


def validate_project(name: str, path: str, columns: dict[str, Any]) -> None:
    """Raise Invalid if the name, path, description or CI path is invalid."""
    errors: dict[str, list[str]] = {}
    error = project_name_error(name)
    if error:
        errors["name"] = [error]
    error = path_error(path, RESERVED_PROJECTS)
    if error:
        errors["path"] = [error]
    if len(columns.get("description") or "") > MAX_DESCRIPTION_LENGTH:
        errors["description"] = [too_long_message(MAX_DESCRIPTION_LENGTH)]
    ci_path = columns.get("ci_config_path") or ""
    if len(ci_path) > MAX_LENGTH or ".." in ci_path.split("/") or ci_path.startswith("/"):
        errors["ci_config_path"] = ["cannot include leading slash or directory traversal."]
    if errors:
        raise Invalid(**errors)


def check_visibility(
    db: Connection, actor: Actor, visibility: str, namespace: Namespace, forked_from_id: int | None = None
) -> None:
    """Raise Invalid if a visibility exceeds that of the group or fork source, or is restricted."""
    if namespace.kind == "group" and VISIBILITY_ORDER[visibility] > VISIBILITY_ORDER[namespace.visibility]:
        raise Invalid(visibility_level=[f"{visibility} is not allowed in a {namespace.visibility} group."])
    if visibility in current_settings(db).restricted_visibility_levels and not actor.admin:
        raise Invalid(visibility_level=[f"{visibility} has been restricted by your administrator"])
    source = project_or_none(db, forked_from_id) if forked_from_id is not None else None
    if source is not None and VISIBILITY_ORDER[visibility] > VISIBILITY_ORDER[source.visibility]:
        reason = f"{visibility} is not allowed since the fork source project has lower visibility."
        raise Invalid(visibility_level=[reason])


def require_available_name(db: Connection, namespace: Namespace, name: str, path: str, except_id: int = 0) -> None:
    """Raise Invalid if the namespace has a project with this name or path, or a group with this path."""
    errors: dict[str, list[str]] = {}
    full_path = f"{namespace.full_path}/{path}"
    if project_id_by_name_or_none(db, namespace.id, name) not in (None, except_id):
        errors["name"] = ["has already been taken"]
    if (
        project_id_by_path_or_none(db, full_path) not in (None, except_id)
        or namespace_by_path(db, full_path) is not None
    ):
        errors["path"] = ["has already been taken"]
    if errors:
        raise Invalid(**errors)
