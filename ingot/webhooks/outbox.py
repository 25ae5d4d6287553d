"""Outbox of webhooks: one row per event and one small row per webhook."""

import secrets
import uuid
from collections.abc import Sequence
from typing import Literal

import msgspec
from sqlalchemy import Text, bindparam, insert, literal, select
from sqlalchemy.types import BigInteger

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.jobs.queue import wake_workers
from ingot.webhooks.delivery.tables import hook_deliveries
from ingot.webhooks.payloads.parts import Payload
from ingot.webhooks.tables import hook_events, hooks

_ASSIGN = insert(hook_deliveries).from_select(
    ["event_id", "hook_id", "state", "attempts", "due_at", "placed_at"],
    select(
        bindparam("event", type_=BigInteger),
        hooks.c.id,
        literal("waiting", Text),
        literal(0, BigInteger),
        bindparam("now", type_=Text),
        bindparam("now", type_=Text),
    ).where(in_list(hooks.c.id, "listeners")),
)


class PendingCompletion(msgspec.Struct, frozen=True, omit_defaults=True):
    """Data to read from a repository before a payload is complete."""

    repository_key: str
    what: Literal["push", "tag", "system tag", "commit", "job", "page", "head"]
    oid: str = ""
    project_id: int = 0
    base: str | None = None
    """Full name of the branch whose commits do not count as new on a new branch."""
    mark: int = 0
    """Id of the project's last ref change at the time of the event."""


def queue_event(
    db: Connection,
    trigger: str,
    payload: Payload,
    listeners: Sequence[int],
    unfinished: PendingCompletion | None = None,
) -> int:
    """Store an event for webhooks, delivered after the transaction has been committed; return its id."""
    event_id = db.insert(
        hook_events,
        uuid=str(uuid.UUID(bytes=secrets.token_bytes(16), version=4)),
        trigger=trigger,
        payload=msgspec.json.encode(payload).decode(),
        unfinished=None if unfinished is None else msgspec.json.encode(unfinished).decode(),
        created_at=db.now,
    )
    queue_deliveries(db, event_id, listeners)
    return event_id


def queue_deliveries(db: Connection, event_id: int, listeners: Sequence[int]) -> None:
    """Queue an event for webhooks; it may have been sent before."""
    db.run(_ASSIGN, event=event_id, listeners=list(listeners), now=db.now)
    wake_workers(db)
