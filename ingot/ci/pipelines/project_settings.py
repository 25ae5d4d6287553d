"""Settings of projects for CI: reading for views, validation and storage."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, update

from ingot.ci.config.patterns import pattern_matcher
from ingot.ci.pipelines.queries import settings_of
from ingot.ci.pipelines.tables import ci_settings
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.core.late_imports import require_modules
from ingot.pipelines.queries import lock_project
from ingot.projects.projects.ports import ProjectCiSettings

MIN_TIMEOUT, MAX_TIMEOUT = 600, 2_592_000
MAX_GIT_DEPTH = 1000
_MAX_LENGTH = 255


def project_ci_settings(db: Connection, project_id: int) -> ProjectCiSettings:
    """Return the settings of a project as the API shows them."""
    settings = settings_of(db, project_id)
    return ProjectCiSettings(
        settings.build_timeout,
        settings.build_coverage_regex,
        settings.build_git_strategy,
        settings.default_git_depth,
        "enabled" if settings.auto_cancel_pending_pipelines else "disabled",
        settings.keep_latest_artifact,
        settings.group_runners_enabled,
    )


@lru_cache(maxsize=128)
def _update(columns: tuple[str, ...]) -> Any:
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in columns}
    return update(ci_settings).where(ci_settings.c.project_id == bindparam("project")).values(values)


def edit_ci_settings(db: Connection, project_id: int, given: Mapping[str, Any]) -> None:
    """Store the given settings of a project; raise Invalid for invalid values."""
    columns = {**given}
    if columns.get("build_coverage_regex") == "":
        columns["build_coverage_regex"] = None
    if "default_git_depth" in columns and columns["default_git_depth"] is None:
        columns["default_git_depth"] = 0
    _validate(columns)
    lock_project(db, project_id)
    named = {f"new_{name}": value for name, value in columns.items()}
    if db.run_counted(_update(tuple(sorted(columns))), project=project_id, **named) == 0:
        db.insert(ci_settings, project_id=project_id, **columns)


def _validate(columns: Mapping[str, Any]) -> None:
    errors: dict[str, list[str]] = {}
    timeout = columns.get("build_timeout")
    if timeout is not None and not MIN_TIMEOUT <= timeout <= MAX_TIMEOUT:
        errors["build_timeout"] = ["needs to be between 10 minutes and 1 month"]
    depth = columns.get("default_git_depth")
    if depth is not None and not 0 <= depth <= MAX_GIT_DEPTH:
        errors["ci_default_git_depth"] = [f"must be less than or equal to {MAX_GIT_DEPTH}"]
    pattern = columns.get("build_coverage_regex")
    if pattern is not None and len(pattern) > _MAX_LENGTH:
        errors["build_coverage_regex"] = [too_long_message(_MAX_LENGTH)]
    elif pattern is not None and not _is_expression(pattern):
        errors["build_coverage_regex"] = ["must be a regular expression"]
    if errors:
        raise Invalid(**errors)


def _is_expression(pattern: str) -> bool:
    require_modules("re2")
    return pattern_matcher(f"/{pattern.strip('/')}/") is not None
