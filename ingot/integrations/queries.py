"""Queries of services."""

from typing import Literal

from sqlalchemy import bindparam, select, union_all

from ingot.collaboration.external_issues import IssueTracker
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.integrations.registry import REGISTRY, SLUGS_BY_KIND, Integration
from ingot.integrations.tables import Service, ServiceParent, services
from ingot.integrations.trackers import tracker_from_service
from ingot.projects.projects.tables import Project
from ingot.webhooks.inherited_services import INHERITED_BY_GROUP, INHERITED_BY_PROJECT

_OWN = {"project": services.c.project_id == bindparam("project"), "group": services.c.group_id == bindparam("group")}
_INHERITED = {"project": INHERITED_BY_PROJECT, "group": INHERITED_BY_GROUP}
# Of ids, since PostgreSQL would read the whole table for a condition of two columns.
_EFFECTIVE = {
    kind: select(services).where(services.c.id.in_(union_all(select(services.c.id).where(_OWN[kind]), inherited)))
    for kind, inherited in _INHERITED.items()
}
_LISTS = {kind: list_query(query, services.c.id, services.c.id.asc()) for kind, query in _EFFECTIVE.items()}
_SLUG = services.c.slug == bindparam("name")
_ONE = {kind: query.where(_SLUG) for kind, query in _EFFECTIVE.items()}
_ONE_INHERITED = {
    kind: select(services).where(services.c.id.in_(inherited), _SLUG) for kind, inherited in _INHERITED.items()
}
_ACTIVE = _ONE["project"].where(services.c.active)
_TRACKER_BYTES = 500
_TRACKER = (
    _EFFECTIVE["project"]
    .where(one_of(services.c.slug, *SLUGS_BY_KIND["tracker"]), services.c.active)
    .order_by(services.c.project_id.is_(None), services.c.id)
    .limit(1)
)


def find_integration(slug: str) -> Integration:
    """Return the registry entry of a service; raise NotFound if there is none."""
    if slug not in REGISTRY:
        raise NotFound("Service")
    return REGISTRY[slug]


def list_services(db: Connection, parent: ServiceParent, page: Page) -> Listing[Service]:
    """List the services of a project or group, including those that it inherits."""
    return fetch_page(db, Service, _LISTS[owner_kind(parent)], page, **{owner_kind(parent): parent.id})


def service_or_none(db: Connection, parent: ServiceParent, slug: str) -> Service | None:
    """Return the service of a project or group, its own or the one that it inherits."""
    kind = owner_kind(parent)
    return db.first(Service, _ONE[kind], **{kind: parent.id}, name=slug)


def inherited_service_or_none(db: Connection, parent: ServiceParent, slug: str) -> Service | None:
    """Return the service that a project or group inherits, if it has none of its own."""
    kind = owner_kind(parent)
    return db.first(Service, _ONE_INHERITED[kind], **{kind: parent.id}, name=slug)


def owner_kind(parent: ServiceParent) -> Literal["project", "group"]:
    """Return the kind of a service's owner."""
    return "project" if isinstance(parent, Project) else "group"


def active_service_or_none(db: Connection, project_id: int, slug: str) -> Service | None:
    """Return the service of a project, its own or the one that it inherits, if it is active."""
    return db.first(Service, _ACTIVE, project=project_id, name=slug)


def external_tracker_or_none(db: Connection, project_id: int) -> IssueTracker | None:
    """Return the external issue tracker of a project: the first of several, its own before inherited ones."""

    def read() -> tuple[IssueTracker, ...]:
        service = db.first(Service, _TRACKER, project=project_id)
        return () if service is None else (tracker_from_service(service),)

    found = db.cached(("issue tracker", project_id), read, lambda _: _TRACKER_BYTES)
    return found[0] if found else None
