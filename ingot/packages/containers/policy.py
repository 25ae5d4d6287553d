"""Permissions on container images."""

from sqlalchemy import ColumnElement, and_, or_

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.feature_access import is_open_to_all, may_use_feature
from ingot.projects.projects.policy import (
    belongs_to_scanned_project,
    may_change_project,
    may_download_wiki,
    may_write_project,
    wiki_readable_projects,
)
from ingot.projects.projects.tables import Project, projects

PULL_SCOPES = frozenset({"api", "read_registry", "write_registry"})
PUSH_SCOPES = frozenset({"api", "write_registry"})


def may_read_images(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, and users to whom the project's visibility gives access, if the container registry is enabled."""
    return may_use_feature(actor, access, project, "container_registry") and may_download_wiki(actor, access, project)


def may_push_images(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, if the container registry is enabled and the project is not archived."""
    return project.container_registry_enabled and may_write_project(actor, access, project)


def may_delete_repositories(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, if the container registry is enabled and the project is not archived."""
    return project.container_registry_enabled and may_change_project(actor, access, project)


def visible_images(*, external: bool) -> ColumnElement[bool]:
    """Return ``may_read_images`` as an SQL condition for users without administrator rights."""
    return and_(
        images_enabled(),
        wiki_readable_projects(external=external),
        or_(
            is_open_to_all("container_registry"),
            belongs_to_scanned_project(Level.REPORTER),
        ),
    )


def images_enabled() -> ColumnElement[bool]:
    """Return the condition that the container registry of a project is enabled."""
    return and_(projects.c.container_registry_enabled, projects.c.namespace_id.is_not(None))
