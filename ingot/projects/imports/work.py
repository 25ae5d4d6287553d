"""What the job of an import does; it may run twice, and after a crash it begins anew."""

import fcntl
import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from ingot.db.database import Database
from ingot.errors import Conflict, Unavailable
from ingot.git.faults import GitFailed, MissingRepository
from ingot.git.importing import fetch_into
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.jobs.handling import Later
from ingot.outgoing.fetch import Unreachable, find_repository
from ingot.outgoing.guard import Guard, Refused, strip_credentials
from ingot.projects.imports.queries import JOB_KEY, attempts_at, import_or_none
from ingot.projects.imports.service import (
    Brought,
    fail_import,
    finish_import,
    give_turn,
    is_wanted,
    note_progress,
    pause_import,
    start_import,
)

TIMEOUT_SECONDS = 3600.0
PAUSES_SECONDS = (5.0, 20.0)
"""How long to wait before the second and the third try; there is no fourth."""
RESERVED_BYTES = 256 * 2**20
"""What an import leaves free on the disk."""
BUSY_SECONDS = 30.0
PROGRESS_SECONDS = 1.0
LOOK_SECONDS = 0.5
"""How often to look whether anybody still waits for it."""
NOT_STORED = "The repository could not be stored"
PASSING = frozenset(
    {
        "The server cannot be reached",
        "The server took too long",
        "The server failed",
        "The server broke off the transfer",
        NOT_STORED,
    }
)
"""Reasons that may be gone in a minute."""
_SERVER_FAILED = "The server answered with status 5"


class Trouble(NamedTuple):
    """Why an import did not work, and whether trying again may help."""

    reason: str
    passing: bool


class _Unwanted(Exception):
    """The project was deleted while its import ran, or its job dropped."""


class ImportWork:
    """The handler of imports."""

    def __init__(
        self,
        store: Store,
        guard: Guard,
        *,
        pauses: Sequence[float] = PAUSES_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
        most_bytes: int | None = None,
    ) -> None:
        self._store = store
        self._guard = guard
        self._pauses = tuple(pauses)
        self._timeout = timeout
        self._most_bytes = most_bytes

    def run(self, database: Database, payload: Any) -> None:
        """Fetch the repository, and say how it went."""
        project_id: int = payload["project_id"]
        job = f"{JOB_KEY}{project_id}"
        wanted, attempts = database.read(lambda db: (import_or_none(db, project_id), attempts_at(db, job)))
        if wanted is None:
            return
        key, branch = wanted.repository_key, wanted.default_branch
        with ExitStack() as held:
            self._hold(held, key, branch)
            begun = database.write(lambda db: start_import(db, wanted))
            if begun is None:
                return
            if begun.status == "started":
                # A worker died on it. Its git may still run, so what it writes to must not be ours.
                self._store.remove(key)
                self._hold(held, key, branch)
            try:
                outcome = self._bring(key, database.vault.unseal(begun.sealed_url), _Watch(database, project_id))
            except _Unwanted:
                database.write(lambda db: give_turn(db, begun))
                return
            if isinstance(outcome, Brought):
                database.write(lambda db: finish_import(db, project_id, outcome))
            elif outcome.passing and attempts <= len(self._pauses):
                database.write(lambda db: pause_import(db, project_id, outcome.reason))
                raise Later(self._pauses[attempts - 1], outcome.reason)
            else:
                database.write(lambda db: fail_import(db, project_id, outcome.reason))

    def _hold(self, held: ExitStack, key: str, branch: str) -> None:
        """Lock the repository's folder, or wait: a worker whose lease is over may still be at work in it.

        The lock ends with its holder, however that ends.
        """
        if not self._store.exists(key):  # A crash came between taking one away and making the next.
            self._store.create(key, branch)
        descriptor = os.open(self._store.path_of(key), os.O_RDONLY | os.O_DIRECTORY)
        held.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Later(BUSY_SECONDS) from None

    def _bring(self, key: str, url: str, watch: "_Watch") -> Brought | Trouble:
        path = self._store.path_of(key)
        address, username, password = strip_credentials(url)
        try:
            watch.look()
            found = find_repository(self._guard, _plain(address), username, password)
            reason = fetch_into(
                path,
                _plain(found.url),
                found.pinned,
                found.username,
                found.password,
                self._timeout,
                watch.note,
                watch.look,
                most_bytes=self._room_for(path),
            )
            return Trouble(reason, reason in PASSING) if reason else self._brought(key)
        except (Refused, Unreachable) as error:
            # What the network or the resolver did is their cause; what the server said has none.
            passing = isinstance(error.__cause__, OSError) or error.reason.startswith(_SERVER_FAILED)
            return Trouble(error.reason, passing)
        except (OSError, MissingRepository, GitFailed):
            return Trouble(NOT_STORED, True)

    def _room_for(self, path: Path) -> int:
        free = max(0, shutil.disk_usage(path).free - RESERVED_BYTES)
        return free if self._most_bytes is None else min(free, self._most_bytes)

    def _brought(self, key: str) -> Brought:
        return brought_by(self._store.open(key))


def brought_by(repository: Repository) -> Brought:
    """What is in a repository now."""
    return Brought(repository.head_branch(), repository.is_empty(), repository.commit_count(), repository.size_bytes())


def _plain(url: str) -> str:
    """The URL in the one spelling in which git is given it; redirects may lead to any."""
    scheme, _, rest = url.partition("://")
    if "?" in rest or "#" in rest:
        raise Unreachable("The server redirects to what is not a repository")
    return f"{scheme.lower()}://{rest.replace('@', '%40')}"  # There are no credentials in it at this point.


class _Watch:
    """Writes down how far git is, not too often, and ends the work that nobody waits for."""

    def __init__(self, database: Database, project_id: int) -> None:
        self._database = database
        self._project_id = project_id
        self._next_note = 0.0
        self._next_look = 0.0

    def look(self) -> None:
        """End the work where the project was deleted, or its job dropped."""
        if monotonic() < self._next_look:
            return
        self._next_look = monotonic() + LOOK_SECONDS
        try:
            wanted = self._database.read(partial(is_wanted, project_id=self._project_id))
        except Unavailable:  # Nobody can say, so it goes on.
            return
        if not wanted:
            raise _Unwanted

    def note(self, text: str) -> None:
        """Show how far it is."""
        if monotonic() < self._next_note:
            return
        self._next_note = monotonic() + PROGRESS_SECONDS
        try:
            wanted = self._database.write(partial(note_progress, project_id=self._project_id, text=text))
        except (Unavailable, Conflict):  # Progress is not worth losing an import for.
            return
        if not wanted:
            raise _Unwanted
