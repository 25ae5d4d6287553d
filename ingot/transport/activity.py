"""Who was active by git on which day: noted out of band, at most once a day and worker."""

from concurrent.futures import Executor

from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.service import record_activity
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Date, day_of
from ingot.errors import Unavailable
from ingot.log import log_failure

_MAX_TRACKED_USERS = 100_000


class ActivityTracker:
    """Remembers whose activity of today is written down already."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._noted: dict[int, Date] = {}

    def note(self, actor: Actor) -> None:
        """Somebody uses git."""
        today = day_of(self._database.clock())
        if not actor.known or self._noted.get(actor.user_id) == today:
            return
        if len(self._noted) >= _MAX_TRACKED_USERS:
            self._noted.clear()
        self._noted[actor.user_id] = today
        self._writer.submit(self._write, actor.user_id)

    def _write(self, user_id: int) -> None:
        def touch(db: Connection) -> None:
            user = user_or_none(db, str(user_id))
            if user is not None:
                record_activity(db, user)

        try:
            self._database.write(touch)
        except Unavailable as error:  # It is noted again at the next use.
            log_failure("activity not stored", error)
            self._noted.pop(user_id, None)
