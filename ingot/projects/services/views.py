"""What callers see of services; never a secret."""

from typing import Any

import msgspec

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.projects.services.registry import CONFIDENTIAL, FLAGS, REGISTRY, Integration
from ingot.projects.services.tables import Service

NOT_IMPLEMENTED_REASON = "These settings are kept, but nothing is done with them here."


class ServiceBriefView(View):
    """A service, without what it knows."""

    id: int | None
    title: str
    slug: str
    created_at: Timestamp | None
    updated_at: Timestamp | None
    active: bool
    inactive_reason: str | None
    """Why it cannot be active, where it cannot."""
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


class ServiceView(ServiceBriefView):
    """A service, with what it knows and may be shown."""

    properties: dict[str, Any]


def service_brief_view(service: Service) -> ServiceBriefView:
    """A service in a list."""
    return ServiceBriefView(**_fields(REGISTRY[service.slug], service))


def service_view(integration: Integration, service: Service | None) -> ServiceView:
    """A service; one that was never set up is there too, and does nothing."""
    known = msgspec.json.decode(service.properties) if service else {}
    return ServiceView(**_fields(integration, service), properties=known)


def _fields(integration: Integration, service: Service | None) -> dict[str, Any]:
    events = msgspec.json.decode(service.events) if service else [name for name in FLAGS if name not in CONFIDENTIAL]
    known = msgspec.json.decode(service.properties) if service else {}
    return {
        "id": service.id if service else None,
        "title": (integration.kind == "tracker" and known.get("title")) or integration.title,
        "slug": integration.slug,
        "created_at": service.created_at if service else None,
        "updated_at": service.updated_at if service else None,
        "active": service.active if service else False,
        "inactive_reason": NOT_IMPLEMENTED_REASON if integration.kind == "none" else None,
        **{name: name in events for name in FLAGS},
    }
