"""Job that forgets usages of components after 30 days."""

from typing import Any

from ingot.ci.catalog.service import count_usages_again, expire_usages
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue

EXPIRE_COMPONENT_USAGES = "expire_component_usages"


def enqueue_usage_expiry(db: Connection) -> None:
    """Enqueue the job."""
    enqueue(db, EXPIRE_COMPONENT_USAGES, None, unique_key=EXPIRE_COMPONENT_USAGES)


def expire_component_usages(database: Database, payload: Any) -> None:  # noqa: ARG001 - Every handler takes a payload.
    """Delete old usages in batches, each with the counts that depend on it."""
    while database.write(expire_usages):
        pass
    database.write(count_usages_again)
