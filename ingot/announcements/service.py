"""What keeps a chat's hook as its service says."""

import msgspec
from sqlalchemy import bindparam, delete, select

from ingot.announcements.outfits import outfit_of
from ingot.db.connection import Connection
from ingot.hooks.tables import FLAGS, hooks
from ingot.outgoing.urls import parts_of
from ingot.services.registry import EVENTS, REGISTRY
from ingot.services.service import open_properties
from ingot.services.tables import Service

_HOOK = select(hooks.c.id).where(hooks.c.service_id == bindparam("service"))
_DROP = delete(hooks).where(hooks.c.service_id == bindparam("service"))


def keep_hook(db: Connection, service: Service) -> None:
    """Let a chat be told what its service asks for, and nothing where it is not active."""
    if not service.active:
        db.run(_DROP, service=service.id)
        return
    plain, secret = open_properties(db, service)
    outfit = outfit_of({**plain, **secret})
    known = {EVENTS[event] for event in REGISTRY[service.slug].events}
    asked = known & set(msgspec.json.decode(service.events))
    columns = {
        "url": _place_of(outfit.url),
        "outfit": db.vault.seal(msgspec.json.encode(outfit).decode()),
        **{name: name in asked for name in FLAGS},
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


def _place_of(url: str) -> str:
    """Where a URL leads, without the way there, which only its receiver and the service know."""
    parts = parts_of(url)
    host = f"[{parts.host}]" if ":" in parts.host else parts.host
    return f"{parts.scheme}://{host}:{parts.port}/"
