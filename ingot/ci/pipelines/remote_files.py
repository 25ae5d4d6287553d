"""Files of a configuration on other servers, fetched within limits of time, so that slow servers do not stop others."""

from threading import BoundedSemaphore, Lock
from time import monotonic

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.yaml_loader import MAX_BYTES
from ingot.core.outgoing.errors import OutgoingError
from ingot.core.outgoing.guard import SsrfGuard

FILE_SECONDS = 5.0
TOTAL_SECONDS = 10.0
"""Time for all files of a configuration, and for those of all configurations of a user within a window."""
WINDOW_SECONDS = 30.0
MAX_READERS = 2
"""Number of configurations with such files that a process reads at a time."""
BUSY = "Remote files are being fetched by other requests; try again later"
TOO_SLOW = f"Remote files took longer than {TOTAL_SECONDS:.0f} seconds in total; try again later"
_OK = 200
_MAX_USERS = 1000
_readers = BoundedSemaphore(MAX_READERS)


class _TimeOfUsers:
    """Time that users spent on remote files lately; one push can lead to several pipelines."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._spent: dict[int, tuple[float, float]] = {}

    def left(self, user_id: int) -> float:
        """Return the seconds that a user has left in the present window."""
        with self._lock:
            begin, seconds = self._spent.get(user_id, (0.0, 0.0))
        return TOTAL_SECONDS if monotonic() - begin > WINDOW_SECONDS else TOTAL_SECONDS - seconds

    def add(self, user_id: int, seconds: float) -> None:
        """Count time; the first use begins a window."""
        now = monotonic()
        with self._lock:
            begin, before = self._spent.get(user_id, (0.0, 0.0))
            if now - begin > WINDOW_SECONDS:
                begin, before = now, 0.0
            self._spent[user_id] = (begin, before + seconds)
            if len(self._spent) > _MAX_USERS:
                self._spent = {user: entry for user, entry in self._spent.items() if now - entry[0] <= WINDOW_SECONDS}


_time_of_users = _TimeOfUsers()


class RemoteFiles:
    """Fetches the remote files of one configuration; ``close`` lets another configuration take its place."""

    def __init__(self, guard: SsrfGuard, user_id: int) -> None:
        self._guard = guard
        self._user_id = user_id
        self._left = TOTAL_SECONDS
        self._has_place = False

    def fetch(self, url: str) -> str:
        """Return the text behind a URL; the guard refuses local and private addresses; raise ConfigError."""
        if not self._has_place and not _readers.acquire(blocking=False):
            raise ConfigError(BUSY)
        self._has_place = True
        left = min(self._left, _time_of_users.left(self._user_id))
        if left <= 0:
            raise ConfigError(TOO_SLOW)
        begin = monotonic()
        try:
            return self._fetch(url, min(left, FILE_SECONDS))
        finally:
            seconds = monotonic() - begin
            self._left -= seconds
            _time_of_users.add(self._user_id, seconds)

    def close(self) -> None:
        """Give the place to another configuration."""
        if self._has_place:
            self._has_place = False
            _readers.release()

    def _fetch(self, url: str, seconds: float) -> str:
        from ingot.core.outgoing.client import send  # Few configurations include remote files.

        try:
            response = send(self._guard.pin(url), deadline_seconds=seconds, max_bytes=MAX_BYTES)
        except OutgoingError as error:
            raise ConfigError(f"Remote file `{url}` could not be fetched: {error.reason}") from error
        if response.status != _OK:
            raise ConfigError(
                f"Remote file `{url}` could not be fetched because of HTTP code `{response.status}` error!"
            )
        if response.truncated:
            raise ConfigError(f"Remote file `{url}` is larger than {MAX_BYTES // 2**20} MiB")
        return response.body.decode(errors="replace")
