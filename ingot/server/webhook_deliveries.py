"""Start of the webhook dispatcher with the first delivery: its modules take memory that most idle servers can save."""

import os
import select
import threading
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from sqlalchemy import literal, literal_column
from sqlalchemy import select as select_rows

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Unavailable
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.jobs import hook_dispatcher
from ingot.webhooks.delivery.tables import hook_deliveries

if TYPE_CHECKING:
    from ingot.webhooks.delivery.dispatcher import HookDispatcher

_ROLE = "hooks"
_MAX_SLEEP_SECONDS = 30.0
_WAITING_DELIVERY = (
    select_rows(literal(1))
    .select_from(hook_deliveries)
    .where(hook_deliveries.c.state == literal_column("'waiting'"))
    .limit(1)
)


def has_waiting_delivery(db: Connection) -> bool:
    """Return whether a delivery waits, be it due or not; imports no module of webhooks but that table."""
    return db.value(_WAITING_DELIVERY) is not None


def has_due_delivery(db: Connection) -> bool:
    """Return whether a delivery is due; the modules of webhooks are not imported before one waits."""
    if not has_waiting_delivery(db):
        return False
    from ingot.webhooks.delivery import claims

    return claims.has_due_delivery(db)


class LateDispatcher:
    """The webhook dispatcher of a process, which is built when a delivery waits."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self._settings = settings
        self._database = database
        self._log = log
        self._dispatcher: HookDispatcher | None = None

    def start_if_needed(self, stops: Sequence[int] = ()) -> bool:
        """Start the dispatcher if a delivery waits, be it due or not; return whether it runs.

        It stops by itself when one of ``stops`` becomes readable.
        """
        if self._dispatcher is None and self._database.read(has_waiting_delivery):
            self._dispatcher = hook_dispatcher(self._settings, self._database, self._log)
            self._dispatcher.start(stops)
        return self._dispatcher is not None

    def stop(self) -> bool:
        """Stop the dispatcher, if it runs; return whether its deliveries ended."""
        dispatcher, self._dispatcher = self._dispatcher, None
        return dispatcher is None or dispatcher.stop()


class WebhookDeliveries:
    """Waits for the first delivery in a thread, then runs the dispatcher until it is stopped."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self._database = database
        self._log = log
        self._dispatcher = LateDispatcher(settings, database, log)
        self._thread = threading.Thread(target=self._wait, name="hooks-wait", daemon=True)
        stopping, self._stopper = os.pipe()
        self._stopping = [stopping]

    def start(self, stops: Sequence[int]) -> None:
        """Wait for deliveries until ``stop`` is called or one of ``stops`` becomes readable."""
        self._stopping += stops
        self._thread.start()

    def stop(self) -> bool:
        """Stop the dispatcher, if it runs; return whether its deliveries ended."""
        os.write(self._stopper, b"!")
        self._thread.join()
        return self._dispatcher.stop()

    def _wait(self) -> None:
        with closing(self._database.engine.watch(_ROLE)) as watch:
            while not select.select(self._stopping, [], [], 0)[0]:
                try:
                    if self._dispatcher.start_if_needed(self._stopping):
                        return
                except (Unavailable, Conflict) as error:
                    self._log("hook database unavailable", error=str(error))
                watch.wait(_MAX_SLEEP_SECONDS, self._stopping)
