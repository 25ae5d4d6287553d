"""Putting what happened into the outbox: one row for what there is to tell, and a small one for each hook."""

import uuid
from collections.abc import Sequence
from typing import Literal

import msgspec
from sqlalchemy import Text, bindparam, insert, literal, select
from sqlalchemy.types import BigInteger

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.jobs.queue import wake_workers
from ingot.integrations.webhooks.payloads.parts import Payload
from ingot.integrations.webhooks.tables import hook_deliveries, hook_events, hooks

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
    """What is still to be read from a repository before something can be told."""

    repository_key: str
    what: Literal["push", "tag", "system tag", "commit", "job", "page", "head"]
    oid: str = ""
    project_id: int = 0
    base: str | None = None
    """The full name of the branch whose commits are no news on a new one."""
    mark: int = 0
    """The last change of references that the project had seen by then."""


def queue_event(
    db: Connection,
    trigger: str,
    payload: Payload,
    listeners: Sequence[int],
    unfinished: PendingCompletion | None = None,
) -> int:
    """Let hooks be told, once the caller's transaction has committed; gives the number of what they are told."""
    event_id = db.insert(
        hook_events,
        uuid=str(uuid.uuid4()),
        trigger=trigger,
        payload=msgspec.json.encode(payload).decode(),
        unfinished=None if unfinished is None else msgspec.json.encode(unfinished).decode(),
        created_at=db.now,
    )
    queue_deliveries(db, event_id, listeners)
    return event_id


def queue_deliveries(db: Connection, event_id: int, listeners: Sequence[int]) -> None:
    """Let hooks be told of something, be it once more."""
    db.run(_ASSIGN, event=event_id, listeners=list(listeners), now=db.now)
    wake_workers(db)
