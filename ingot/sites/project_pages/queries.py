"""Queries of the settings of sites."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.sites.project_pages.tables import ProjectPages, project_pages

_OF_PROJECT = select(project_pages).where(project_pages.c.project_id == bindparam("project"))
_BY_UNIQUE_DOMAIN = select(project_pages).where(project_pages.c.unique_domain == bindparam("label"))


def pages_of_project(db: Connection, project_id: int) -> ProjectPages | None:
    """Return the stored settings of the site of a project, if there are any."""
    return db.first(ProjectPages, _OF_PROJECT, project=project_id)


def pages_by_unique_domain(db: Connection, label: str) -> ProjectPages | None:
    """Return the settings of the site that has a unique domain, which may be disabled now."""
    return db.first(ProjectPages, _BY_UNIQUE_DOMAIN, label=label)
