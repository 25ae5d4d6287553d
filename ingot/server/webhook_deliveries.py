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


class WebhookDeliveries:
    """Waits for the first delivery in a thread, then runs the dispatcher until it is stopped."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self._settings = settings
        self._database = database
        self._log = log
        self._dispatcher: HookDispatcher | None = None
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
        return self._dispatcher is None or self._dispatcher.stop()

    def _wait(self) -> None:
        with closing(self._database.engine.watch(_ROLE)) as watch:
            while not select.select(self._stopping, [], [], 0)[0]:
                try:
                    if self._database.read(has_waiting_delivery):
                        self._dispatcher = hook_dispatcher(self._settings, self._database, self._log)
                        self._dispatcher.start(self._stopping)
                        return
                except (Unavailable, Conflict) as error:
                    self._log("hook database unavailable", error=str(error))
                watch.wait(_MAX_SLEEP_SECONDS, self._stopping)
