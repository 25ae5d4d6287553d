"""Access levels of the features of a project: disabled, for members only, or for everyone who may see the project."""

from typing import Literal

from sqlalchemy import ColumnElement, and_, or_

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.options import PrivateFeature
from ingot.projects.projects.tables import Project, projects

Feature = PrivateFeature | Literal["releases", "environments", "feature_flags", "infrastructure"]
PLANNING_FEATURES: tuple[PrivateFeature, ...] = ("issues", "merge_requests")
_SWITCHES: dict[str, str] = {
    "issues": "issues_enabled",
    "merge_requests": "merge_requests_enabled",
    "builds": "jobs_enabled",
    "wiki": "wiki_enabled",
    "snippets": "snippets_enabled",
    "container_registry": "container_registry_enabled",
}
"""Columns of features that are switched by a column; the levels of others are options."""
# Guests cannot read these in a private project either.
_MEMBER_LEVELS: dict[str, Level] = {
    "merge_requests": Level.REPORTER,
    "container_registry": Level.REPORTER,
    "environments": Level.REPORTER,
}


def may_use_feature(actor: Actor, access: Access, project: Project, feature: Feature) -> bool:
    """Members if the feature is private, everyone if it is enabled; independent of the project's visibility."""
    level = feature_level(project, feature)
    if level == "private":
        return access.level >= _MEMBER_LEVELS.get(feature, Level.GUEST) or actor.admin
    return level == "enabled"


def feature_level(project: Project, feature: Feature) -> str:
    """Return the access level of a feature."""
    column = _SWITCHES.get(feature)
    if column is None:
        level: str = getattr(project.options, f"{feature}_access_level")
        return level
    if not getattr(project, column):
        return "disabled"
    return "private" if feature in project.options.private_features else "enabled"


def has_open_planning() -> ColumnElement[bool]:
    """Return the condition that issues or merge requests of a project are enabled and not private."""
    issues = and_(projects.c.issues_enabled.is_(True), is_open_to_all("issues"))
    return or_(issues, and_(projects.c.merge_requests_enabled.is_(True), is_open_to_all("merge_requests")))


def is_open_to_all(feature: PrivateFeature) -> ColumnElement[bool]:
    """Return the condition that a feature of a project is not private; whether it is enabled is another condition."""
    # Options that equal their default are omitted, so most documents are short. Texts cannot match: their quotes are
    # escaped.
    return projects.c.options_document.not_like(f'%"private_features":[%"{feature}"%')


def has_option(name: str, value: str) -> ColumnElement[bool]:
    """Return the condition that an option of a project has a value that is not its default."""
    return projects.c.options_document.like(f'%"{name}":"{value}"%')
