"""Permissions on the CI/CD catalog."""

from sqlalchemy import ColumnElement

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_download_code, may_own_project, readable_projects
from ingot.projects.projects.tables import Project


def may_read_resource(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may read the code, which the components are a part of."""
    return may_download_code(actor, access, project)


def visible_resources(*, external: bool) -> ColumnElement[bool]:
    """Return ``may_read_resource`` as an SQL condition for users without administrator rights."""
    return readable_projects(external=external)


def may_change_resource(actor: Actor, access: Access, project: Project) -> bool:
    """Owners and administrators, unless the project is archived."""
    return may_own_project(actor, access, project) and not project.archived
