"""Response structs of services, always without secrets."""

from typing import Any

import msgspec

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.integrations.queries import active_service_or_none
from ingot.integrations.registry import CONFIDENTIAL, FLAGS, REGISTRY, Integration
from ingot.integrations.tables import Service, ServiceParent
from ingot.projects.projects.tables import Project

_URL_BYTES = 200


class ServiceBriefView(View):
    """Service in a list, without its properties."""

    id: int | None
    title: str
    slug: str
    created_at: Timestamp | None
    updated_at: Timestamp | None
    active: bool
    inactive_reason: str | None
    """Reason why the service cannot be active, or None."""
    push_events: bool
    tag_push_events: bool
    issues_events: bool
    confidential_issues_events: bool
    merge_requests_events: bool
    note_events: bool
    confidential_note_events: bool
    job_events: bool
    pipeline_events: bool
    wiki_page_events: bool
    commit_events: bool
    comment_on_event_enabled: bool
    """Whether an integration of a tracker comments there on references; also one of its properties."""
    inherited: bool
    """Whether the settings are those of a group above."""


class ServiceView(ServiceBriefView):
    """Service with its properties, except secrets."""

    properties: dict[str, Any]


def service_brief_view(parent: ServiceParent, service: Service) -> ServiceBriefView:
    """Return the view of a service of a project or group in a list."""
    return ServiceBriefView(**_fields(parent, REGISTRY[service.slug], service))


def service_view(parent: ServiceParent, integration: Integration, service: Service | None) -> ServiceView:
    """Return the view of a service of a project or group; one that was never set up is shown as inactive."""
    properties = msgspec.json.decode(service.properties) if service else {}
    return ServiceView(**_fields(parent, integration, service), properties=properties)


def _fields(parent: ServiceParent, integration: Integration, service: Service | None) -> dict[str, Any]:
    events = msgspec.json.decode(service.events) if service else [name for name in FLAGS if name not in CONFIDENTIAL]
    properties = msgspec.json.decode(service.properties) if service else {}
    return {
        "id": service.id if service else None,
        "title": (integration.kind == "tracker" and properties.get("title")) or integration.title,
        "slug": integration.slug,
        "created_at": service.created_at if service else None,
        "updated_at": service.updated_at if service else None,
        "active": service.active if service else False,
        "inactive_reason": integration.effect if integration.kind == "none" else None,
        **{name: name in events for name in FLAGS},
        "comment_on_event_enabled": properties.get("comment_on_event_enabled") is not False,
        "inherited": service is not None
        and parent.id != (service.project_id if isinstance(parent, Project) else service.group_id),
    }


def external_wiki_or_none(db: Connection, project_id: int) -> str | None:
    """Return the URL of a project's external wiki."""
    return _address_or_none(db, project_id, "external-wiki", "external_wiki_url")


def external_builds_or_none(db: Connection, project_id: int, oid: str) -> str | None:
    """Return the URL of the page of Buildkite with the builds of a commit of a project."""
    pipeline = _address_or_none(db, project_id, "buildkite", "project_url")
    return f"{pipeline.rstrip('/')}/builds?commit={oid}" if pipeline else None


def _address_or_none(db: Connection, project_id: int, slug: str, name: str) -> str | None:
    def read() -> tuple[str, ...]:
        service = active_service_or_none(db, project_id, slug)
        return () if service is None else (msgspec.json.decode(service.properties)[name],)

    found = db.cached((slug, project_id), read, lambda _: _URL_BYTES)
    return found[0] if found else None
