"""Record of the day on which users were last active through git, written in the background."""

from concurrent.futures import Executor

from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.service import record_activity
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Date, day_of
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure

_CACHE_ENTRIES = 100_000


class UserActivity:
    """Writer of activity dates, with a cache of the dates that are already written."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._written: dict[int, Date] = {}

    def record(self, actor: Actor) -> None:
        """Record that a user is active today; at most one write per user, day and process."""
        today = day_of(self._database.clock())
        if not actor.known or self._written.get(actor.user_id) == today:
            return
        if len(self._written) >= _CACHE_ENTRIES:
            self._written.clear()
        self._written[actor.user_id] = today
        self._writer.submit(self._write, actor.user_id)

    def _write(self, user_id: int) -> None:
        def touch(db: Connection) -> None:
            user = user_or_none(db, str(user_id))
            if user is not None:
                record_activity(db, user)

        try:
            self._database.write(touch)
        except Unavailable as error:  # Written at the next use instead.
            log_failure("activity not stored", error)
            self._written.pop(user_id, None)
