"""Addresses that each user may use, where the instance limits their number."""

from time import monotonic

from ingot.accounts.instance.ports import UserAddresses
from ingot.accounts.instance.rate_limits import ActiveLimit
from ingot.core.api.rate_limits import LimitedRequest
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database

MAX_ADDRESSES = 100_000
_MAX_SECONDS = 60.0


class AdmittedAddresses:
    """The addresses of users, as rows that all workers share.

    An address that was admitted is not looked up again for a tenth of the period, or a minute.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._until: dict[tuple[int, str], float] = {}

    def is_admitted(self, request: LimitedRequest) -> bool:
        """Return whether the address need not be recorded now. Jobs have those of runners."""
        actor = request.actor
        if not actor.known or actor.job is not None:
            return True
        return self._until.get(_user_and_network(request), 0.0) > monotonic()

    def admit(self, limit: ActiveLimit, request: LimitedRequest) -> None:
        """Record the address of a user; raise Throttled if there are too many others."""
        if self.is_admitted(request):
            return
        user_id, network = _user_and_network(request)

        def record(db: Connection) -> None:
            db.ports[UserAddresses].admit(db, user_id, network, limit.requests, limit.seconds)

        self._database.write(record)
        if len(self._until) >= MAX_ADDRESSES:
            self._until.clear()
        self._until[user_id, network] = monotonic() + min(limit.seconds / 10, _MAX_SECONDS)

    def forget(self) -> None:
        """Look all addresses up again, because the limit has changed."""
        self._until.clear()


def _user_and_network(request: LimitedRequest) -> tuple[int, str]:
    return request.actor.sudo_by or request.actor.user_id, request.caller.network
