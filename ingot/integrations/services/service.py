"""What keeps a chat's hook as its service says."""

import msgspec
from sqlalchemy import bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.outgoing.urls import parse_url
from ingot.integrations.services.message_formats import message_format
from ingot.integrations.webhooks.tables import EVENT_FLAGS, hooks
from ingot.projects.services.registry import EVENTS, REGISTRY
from ingot.projects.services.service import unseal_properties
from ingot.projects.services.tables import Service

_HOOK = select(hooks.c.id).where(hooks.c.service_id == bindparam("service"))
_DELETE = delete(hooks).where(hooks.c.service_id == bindparam("service"))


def sync_hook(db: Connection, service: Service) -> None:
    """Let a chat be told what its service asks for, and nothing where it is not active."""
    if not service.active:
        db.run(_DELETE, service=service.id)
        return
    plain, secret = unseal_properties(db, service)
    outfit = message_format({**plain, **secret})
    known = {EVENTS[event] for event in REGISTRY[service.slug].events}
    asked = known & set(msgspec.json.decode(service.events))
    columns = {
        "url": _origin_of(outfit.url),
        "outfit": db.vault.seal(msgspec.json.encode(outfit).decode()),
        **{name: name in asked for name in EVENT_FLAGS},
        "failures": 0,
        "disabled_until": None,
    }
    found: int | None = db.value(_HOOK, service=service.id)
    if found is not None:
        db.update(hooks, found, **columns)
        return
    db.insert(
        hooks,
        kind="service",
        project_id=service.project_id,
        service_id=service.id,
        enable_ssl_verification=True,
        branch_filter_strategy="all_branches",
        created_at=db.now,
        **columns,
    )


def _origin_of(url: str) -> str:
    """Where a URL leads, without the way there, which only its receiver and the service know."""
    parts = parse_url(url)
    host = f"[{parts.host}]" if ":" in parts.host else parts.host
    return f"{parts.scheme}://{host}:{parts.port}/"
