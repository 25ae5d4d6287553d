"""Move of a repository to another storage while it is read and pushed to.

Everything is copied and checked first, which takes long. Then ref changes are refused, those that have begun are
awaited, the refs and the remaining objects are copied, and one transaction makes the copy the repository of the
project. A push that was accepted is therefore in the copy, and one that comes too late is refused before git changes a
ref. The original stays for an hour for requests that have opened it; then the sweep removes it, because no row has its
key. The wiki of the project moves with it. It has no intents: its changes are refused during the move, and a push that
was accepted before repeats its changes in the new place.
"""

import shutil
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from ingot.core.db.database import Database
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.refs import HEADS, TAGS, read_refs
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.backup_copy import copy_repository
from ingot.git.maintenance.fork import link_objects
from ingot.git.maintenance.store import RepositoryStore, key_in
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs
from ingot.projects.projects.queries import project_or_none
from ingot.repositories.ref_changes.apply import reconcile_intent
from ingot.repositories.ref_changes.queries import open_intents_in
from ingot.repositories.storage_moves.queries import find_move, wiki_key_to_move_or_none
from ingot.repositories.storage_moves.service import begin_move, fail_move, finish_move
from ingot.repositories.storage_moves.tables import StorageMove

WAIT_SECONDS = 60.0
"""Time for which pushes that were accepted may take to update their refs."""
_POLL_SECONDS = 0.05
_CHECK_SECONDS = 3600.0
_PUBLIC_REFS = (HEADS, TAGS)


class IncompleteCopy(Exception):
    """A copy that lacks a ref or its object."""


class RepositoryMover:
    """Handler of the job that moves a repository; idempotent, starts again after a crash."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    def run(self, database: Database, move_id: int) -> None:
        """Move the repository of a scheduled move, and record the result."""
        move = database.read(partial(find_move, move_id=move_id))
        if move.state not in ("scheduled", "started"):
            return
        project = database.read(partial(project_or_none, project_id=move.project_id))
        if project is None:
            database.write(partial(fail_move, move=move, message="The project was deleted"))
            return
        try:
            self._move(database, move, project.repository_key)
        except (GitError, MissingRepository, IncompleteCopy, OSError, Unavailable) as error:
            log_failure("repository not moved", error, project_id=move.project_id)
            message = str(error) if isinstance(error, IncompleteCopy | Unavailable) else type(error).__name__
            database.write(partial(fail_move, move=move, message=message))

    def _move(self, database: Database, move: StorageMove, key: str) -> None:
        new_key = key_in(move.destination_storage_name, key)
        if new_key == key:  # A crash after the last transaction.
            database.write(partial(finish_move, move=move, key=key))
            return
        source = self._store.open(key).path
        wiki_key = database.read(partial(wiki_key_to_move_or_none, move=move))
        with ExitStack() as folders:
            copies = [self._begin_copy(folders, each, move) for each in (key, wiki_key) if each is not None]
            for copy in copies:
                copy.copy_everything()
                copy.store_ahead()
            database.write(partial(begin_move, move=move))
            self._await_intents(database, move, Repository(source))
            for copy in copies:
                copy.copy_changes()
        database.write(partial(finish_move, move=move, key=new_key, wiki_key=wiki_key))
        for copy in copies:
            self._store.keep(copy.key)  # The sweep removes it an hour from now.
            copy.refresh_source()
            repeat_ref_changes(copy.source, self._store.open(copy.new_key), copy.refs)

    def _begin_copy(self, folders: ExitStack, key: str, move: StorageMove) -> "_RepositoryCopy":
        new_key = key_in(move.destination_storage_name, key)
        self._store.remove(new_key)  # The rest of an attempt that a crash interrupted.
        return _RepositoryCopy(self._store, key, folders.enter_context(self._store.new_repository(new_key)), new_key)

    def _await_intents(self, database: Database, move: StorageMove, repository: Repository) -> None:
        """Wait until the ref changes that were accepted have been made and recorded."""
        deadline = time.monotonic() + WAIT_SECONDS
        while intents := database.read(partial(open_intents_in, project_id=move.project_id)):
            if time.monotonic() > deadline:
                raise Unavailable("Pushes to the repository did not end in time")
            for intent in intents:
                reconcile_intent(database, repository, intent)
            time.sleep(_POLL_SECONDS)


class _RepositoryCopy:
    """Copy of a repository that is being moved."""

    def __init__(self, store: RepositoryStore, key: str, folder: Path, new_key: str) -> None:
        self._store = store
        self.key = key
        self.source = store.open(key).path
        self.new_key = new_key
        self._folder = folder
        self.refs: dict[bytes, str] = {}

    def copy_everything(self) -> None:
        """Copy and check the repository while it changes."""
        copy_repository(self.source, self._folder)
        self.refs = read_refs(self._folder)
        _check_objects(self._folder, self.refs, {})

    def refresh_source(self) -> None:
        """Bring the source up to date if it is only a copy of a repository in a bucket."""
        if self._store.is_in_bucket(self.key):
            self._store.open(self.key)

    def store_ahead(self) -> None:
        """Store what was copied before ref changes are refused, because an upload may take long."""
        self._store.prepare(self.new_key, self._folder)

    def copy_changes(self) -> None:
        """Copy and check the current refs and the remaining objects.

        A change of a wiki that was accepted before the move may still be made meanwhile; then the copy is repeated.
        """
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.refresh_source()
            shutil.rmtree(self._folder / "refs")
            (self._folder / "packed-refs").unlink(missing_ok=True)
            copy_repository(self.source, self._folder)
            copied = read_refs(self._folder)
            if _public(copied) == read_refs(self.source, _PUBLIC_REFS):
                break
            if time.monotonic() > deadline:
                raise IncompleteCopy("The copy has other branches or tags than the original")
        _check_objects(self._folder, copied, self.refs)
        self.refs = copied


def _public(refs: dict[bytes, str]) -> dict[bytes, str]:
    """Return the branches and tags."""
    return {name: oid for name, oid in refs.items() if name.startswith(_PUBLIC_REFS)}


def _check_objects(copy: Path, refs: dict[bytes, str], checked: dict[bytes, str]) -> None:
    """Walk from the refs to the last object that refs checked before do not reach; raise GitError if one is missing."""
    new, old = set(refs.values()) - set(checked.values()), sorted(set(checked.values()))
    if new:
        tips = "\n".join([*sorted(new), *(f"^{oid}" for oid in old)]).encode() + b"\n"
        run_git(["rev-list", "--objects", "--quiet", "--stdin"], copy, tips, timeout=_CHECK_SECONDS, max_memory=None)


def repeat_ref_changes(source: Path, target: Repository, copied: dict[bytes, str]) -> None:
    """Repeat changes of refs without an intent that were made to the original meanwhile.

    They are internal ones, such as heads of merge requests, and those of wikis. ``copied`` has the refs before.
    """
    late = [
        RefUpdate(name.decode(), copied.get(name, NO_OID), oid)
        for name, oid in read_refs(source).items()
        if copied.get(name) != oid
    ]
    for update in late:
        link_objects(source / "objects", target.path / "objects")
        try:
            update_refs(target, [update])
        except RefMoved:  # It was changed in the new place as well.
            pass
