"""Permissions on packages."""

from sqlalchemy import ColumnElement, and_, or_

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.policy import (
    belongs_to_scanned_project,
    may_change_project,
    may_download_wiki,
    may_write_project,
    wiki_readable_projects,
)
from ingot.projects.projects.tables import Project, projects


def may_read_packages(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, and users to whom the project's visibility gives access, if the project has packages."""
    if project.options.package_registry_access_level == "private" and not (
        access.level >= Level.REPORTER or actor.admin
    ):
        return False
    return has_packages(project) and may_download_wiki(actor, access, project)


def may_write_packages(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, if the project has packages and is not archived."""
    return has_packages(project) and may_write_project(actor, access, project)


def may_delete_packages(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, if the project has packages and is not archived."""
    return has_packages(project) and may_change_project(actor, access, project)


def has_packages(project: Project) -> bool:
    """Return whether the package registry of a project is enabled."""
    return project.options.packages_enabled and project.options.package_registry_access_level != "disabled"


def packages_enabled() -> ColumnElement[bool]:
    """Return ``has_packages`` as an SQL condition; options that differ from their defaults are in the document."""
    document = projects.c.options_document
    return and_(
        document.not_like('%"packages_enabled":false%'),
        document.not_like('%"package_registry_access_level":"disabled"%'),
        projects.c.namespace_id.is_not(None),
    )


def public_packages() -> ColumnElement[bool]:
    """Return ``may_read_packages`` as an SQL condition for anonymous callers."""
    return and_(
        packages_enabled(),
        projects.c.visibility == "public",
        projects.c.options_document.not_like('%"package_registry_access_level":"private"%'),
    )


def visible_packages(*, external: bool) -> ColumnElement[bool]:
    """Return ``may_read_packages`` as an SQL condition for users without administrator rights."""
    return and_(
        packages_enabled(),
        wiki_readable_projects(external=external),
        or_(
            projects.c.options_document.not_like('%"package_registry_access_level":"private"%'),
            belongs_to_scanned_project(Level.REPORTER),
        ),
    )
