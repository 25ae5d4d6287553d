"""Queries of services."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.errors import NotFound
from ingot.projects.services.registry import REGISTRY, SLUGS_BY_KIND, Integration
from ingot.projects.services.tables import Service, services
from ingot.projects.services.trackers import IssueTracker, tracker_from_service

_OF_PROJECT = select(services).where(services.c.project_id == bindparam("project"))
_LIST = list_query(_OF_PROJECT, services.c.id, services.c.id.asc())
_ONE = _OF_PROJECT.where(services.c.slug == bindparam("name"))
_ACTIVE = _ONE.where(services.c.active)
_TRACKER_BYTES = 500
_TRACKER = (
    _OF_PROJECT.where(one_of(services.c.slug, *SLUGS_BY_KIND["tracker"]), services.c.active)
    .order_by(services.c.id)
    .limit(1)
)


def find_integration(slug: str) -> Integration:
    """Return the registry entry of a service; raise NotFound if there is none."""
    if slug not in REGISTRY:
        raise NotFound("Service")
    return REGISTRY[slug]


def list_services(db: Connection, project_id: int, page: Page) -> Listing[Service]:
    """List the services of a project."""
    return fetch_page(db, Service, _LIST, page, project=project_id)


def service_or_none(db: Connection, project_id: int, slug: str) -> Service | None:
    """Return a project's service."""
    return db.first(Service, _ONE, project=project_id, name=slug)


def active_service_or_none(db: Connection, project_id: int, slug: str) -> Service | None:
    """Return a project's service if it is active."""
    return db.first(Service, _ACTIVE, project=project_id, name=slug)


def external_tracker_or_none(db: Connection, project_id: int) -> IssueTracker | None:
    """Return the external issue tracker of a project, the first of several; texts with references need it."""

    def read() -> tuple[IssueTracker, ...]:
        service = db.first(Service, _TRACKER, project=project_id)
        return () if service is None else (tracker_from_service(service),)

    found = db.cached(("issue tracker", project_id), read, lambda _: _TRACKER_BYTES)
    return found[0] if found else None
