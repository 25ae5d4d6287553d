"""Table of deliveries, which every server reads; the larger ones of webhooks are loaded with the first delivery."""

from typing import Literal

from sqlalchemy import Index, Table

from ingot.core.db.schema import index_where, metadata, number, reference, row_id, text

DeliveryState = Literal["waiting", "done", "failed"]

hook_deliveries = Table(
    "hook_deliveries",
    metadata,
    row_id(),
    reference("event_id", "hook_events.id", index=True),
    reference("hook_id", "hooks.id"),
    text("state"),
    number("attempts"),
    text("due_at"),
    # Time of that decision; used to detect a clock that was set back.
    text("placed_at"),
    Index("ix_hook_deliveries_hook_id", "hook_id", "id"),
    # The dispatcher uses these to iterate over hooks and to read a hook's deliveries in order.
    Index(
        "ix_hook_deliveries_waiting_due",
        "hook_id",
        "due_at",
        **index_where("state = 'waiting'"),
    ),
    Index(
        "ix_hook_deliveries_waiting_tried",
        "hook_id",
        "attempts",
        "id",
        **index_where("state = 'waiting'"),
    ),
    sqlite_autoincrement=True,
)
