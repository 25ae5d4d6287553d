"""Synchronization of a service that sends requests with its webhook."""

import msgspec
from sqlalchemy import bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.outgoing.urls import split_url
from ingot.integrations.message_formats import message_format
from ingot.integrations.registry import EVENTS, REGISTRY
from ingot.integrations.requests import RequestSettings, service_address
from ingot.integrations.service import unseal_properties
from ingot.integrations.tables import Service
from ingot.webhooks.tables import EVENT_FLAGS, hooks

_HOOK = select(hooks.c.id).where(hooks.c.service_id == bindparam("service"))
_DELETE = delete(hooks).where(hooks.c.service_id == bindparam("service"))


def sync_hook(db: Connection, service: Service) -> None:
    """Create or update the webhook of a service; delete it if the service is inactive."""
    if not service.active:
        db.run(_DELETE, service=service.id)
        return
    plain, secret = unseal_properties(db, service)
    if REGISTRY[service.slug].kind == "chat":
        chat = message_format({**plain, **secret})
        url, outfit = chat.url, msgspec.json.encode(chat)
    else:
        url = service_address(service.slug, {**plain, **secret})
        outfit = msgspec.json.encode(RequestSettings(service.slug, plain, secret))
    supported = {EVENTS[event] for event in REGISTRY[service.slug].events}
    enabled = supported & set(msgspec.json.decode(service.events))
    columns = {
        "url": _origin_of(url),
        "outfit": db.vault.seal(outfit.decode()),
        **{name: name in enabled for name in EVENT_FLAGS},
        "enable_ssl_verification": plain.get("enable_ssl_verification") is not False,
        "failures": 0,
        "disabled_until": None,
    }
    hook_id: int | None = db.value(_HOOK, service=service.id)
    if hook_id is not None:
        db.update(hooks, hook_id, **columns)
        return
    db.insert(
        hooks,
        kind="service",
        project_id=service.project_id,
        group_id=service.group_id,
        service_id=service.id,
        branch_filter_strategy="all_branches",
        created_at=db.now,
        **columns,
    )


def _origin_of(url: str) -> str:
    """Return the origin of a URL; the path of a chat's webhook is a secret."""
    parts = split_url(url)
    host = f"[{parts.host}]" if ":" in parts.host else parts.host
    return f"{parts.scheme}://{host}:{parts.port}/"
