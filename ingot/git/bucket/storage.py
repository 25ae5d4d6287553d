"""Storage of repositories in a bucket: creation, local copies, changes, forks and removal."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from ingot.core.cache import CopiesSize, CopyStats
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed, require_no_transaction
from ingot.git.bucket.copy_cache import CopyCache
from ingot.git.bucket.local_copy import LocalCopy
from ingot.git.bucket.new_packs import combine_packs, new_packs, pack_everything
from ingot.git.bucket.objects import PackObjects
from ingot.git.bucket.queries import (
    RepositorySnapshot,
    generation_or_none,
    has_branches,
    known_object_keys,
    list_all_packs,
    list_keys_of_packs,
    list_keys_unchanged_since,
    list_packs,
    list_refs,
    read_snapshot,
    repository_or_none,
)
from ingot.git.bucket.repacks import packs_to_combine
from ingot.git.bucket.service import (
    PacksChanged,
    RefChangeSet,
    UploadedPack,
    add_fork,
    add_repository,
    change_head,
    change_refs_in_bucket,
    delete_unlisted_packs,
    mark_unlisted_packs,
    remove_repository,
    swap_packs,
    touch_repository,
)
from ingot.git.bucket.stored_refs import local_refs, peeled_targets
from ingot.git.bucket.tables import StoredPack
from ingot.git.core.errors import DamagedRepository, MissingRepository, RepositoryBucketUnavailable
from ingot.git.core.ref_store import ProposedUpdate, TransactionStep
from ingot.git.core.refs import read_head
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.fork import has_other_commits
from ingot.git.writing.ref_updates import RefMoved, RefUpdate

UNUSED_SECONDS = 86_400.0
"""Longer than any upload, and than any reader uses packs that were replaced."""
_ATTEMPTS = 3
"""Attempts to copy a repository whose packs are replaced meanwhile."""
_LINK_CANDIDATES = 200
"""Repositories whose copies are asked for packs; those that list a pack for the longest time come first."""
_PUBLIC_REFS = ("refs/heads/", "refs/tags/")


class BucketRepositories:
    """Repositories of one storage in the bucket, and the rows and local copies of each."""

    def __init__(self, database: Database, objects: PackObjects, cache: CopyCache) -> None:
        self._database = database
        self.objects = objects
        self.cache = cache
        self._uploaded: dict[Path, list[UploadedPack]] = {}
        """Packs of folders that will be adopted."""
        # Exact counts would need a lock; concurrent threads may lose one.
        self._hits = self._misses = 0
        self._downloaded_packs = self._downloaded_bytes = 0

    def stats(self) -> CopyStats:
        """Return how often copies were up to date in this process, and what it has downloaded."""
        return CopyStats(self._hits, self._misses, self._downloaded_packs, self._downloaded_bytes)

    def cache_size(self) -> CopiesSize:
        """Return the number and size of the copies on this machine, as of the last minute."""
        return self.cache.size()

    def refs_of(self, key: str, path: Path) -> "BucketRefs":
        """Return the refs of a repository."""
        return BucketRefs(self, key, path)

    def exists(self, key: str) -> bool:
        """Return whether a repository exists."""
        return self._database.read(partial(generation_or_none, key=key)) is not None

    def head_branch(self, key: str) -> str:
        """Return the branch that HEAD points at."""
        row = self._database.read(partial(repository_or_none, key=key))
        if row is None:
            raise MissingRepository(f"There is no repository {key}")
        return row.head

    def refresh(self, key: str, path: Path) -> None:
        """Bring the local copy up to date with the row; raise ``MissingRepository``.

        If that takes work, raises in an event loop, and interrupts a transaction, which is repeated afterwards.
        """
        generation = self._database.read(partial(generation_or_none, key=key))
        if generation is None:
            raise MissingRepository(f"There is no repository {key}")
        copy = LocalCopy(path)
        if copy.generation() >= generation:
            self._hits += 1
            return
        self._misses += 1
        require_blocking_allowed()
        update = partial(self._update_copy, key, copy)
        require_no_transaction(update)
        update()

    def create(self, key: str, head: str) -> None:
        """Create an empty repository."""
        self._database.write(partial(add_repository, key=key, head=head))

    def adopt(self, key: str, folder: Path) -> None:
        """Store the repository in a folder under a new key; the folder becomes its local copy."""
        self.store_packs(folder)
        names = LocalCopy(folder).pack_names()
        listed = [pack for pack in self._uploaded.pop(folder) if pack.name in names]
        refs, head = local_refs(folder), _head_of(folder)
        row = self._database.write(partial(add_repository, key=key, head=head, refs=refs, packs=listed))
        copy = LocalCopy(folder)
        copy.write_refs(refs, head, is_complete=True)
        copy.finish(row.generation)
        self._keep(key, copy, listed)

    def store_packs(self, folder: Path) -> None:
        """Upload the packs of a folder that is to be adopted, unless they were uploaded before."""
        uploaded = self._uploaded.setdefault(folder, [])
        names = {pack.name for pack in uploaded}
        uploaded += self.objects.upload([pack for pack in pack_everything(folder) if pack.stem not in names])

    def fork(self, source_key: str, source: Path, key: str) -> bool:
        """Create a repository that lists the packs of another one.

        Returns False, without an effect, if these contain commits that the branches and tags do not reach. Only the
        packs that were compared are listed: one that is added meanwhile may have such commits.
        """
        for _ in range(_ATTEMPTS):
            snapshot = self._database.read(partial(read_snapshot, key=source_key, since=None))
            if snapshot is None:
                raise MissingRepository(f"There is no repository {source_key}")
            public = [ref for ref in snapshot.refs if ref.name.startswith(_PUBLIC_REFS)]
            if {ref.oid for ref in snapshot.refs} - {ref.oid for ref in public}:
                self.refresh(source_key, source)
                if has_other_commits(source, {ref.name.encode(): ref.oid for ref in public}):
                    return False
            fork = partial(add_fork, source=snapshot.row, key=key, refs=public, packs=snapshot.packs)
            with suppress(PacksChanged):
                self._database.write(fork)
                return True
        return False

    def remove(self, key: str) -> None:
        """Delete the rows of a repository and what the cache has of it."""
        self._database.write(partial(remove_repository, key=key))
        self.cache.drop(key)

    def problems(self) -> Iterator[str]:
        """Yield what is missing or cut off in the bucket: all names and sizes are compared with the rows."""
        packs = self._database.read(list_all_packs)
        sizes = self.objects.sizes()
        for pack in packs:
            for suffix, size in ((".pack", pack.pack_bytes), (".idx", pack.index_bytes)):
                found = sizes.get(pack.object_key + suffix)
                if found != size:
                    state = "is missing" if found is None else f"has {found} instead of {size} bytes"
                    name = f"repositories/{pack.object_key}{suffix}"
                    yield f"The object {name} {state}: restore it from a copy of the bucket"

    def touch(self, key: str) -> None:
        """Treat a repository as if it had just changed."""
        self._database.write(partial(touch_repository, key=key))

    def delete_unused_packs(self) -> None:
        """Delete packs that no repository has listed for a day, and objects of that age without a row."""
        self._database.write(mark_unlisted_packs)
        unused = self._database.write(partial(delete_unlisted_packs, older_than_seconds=UNUSED_SECONDS))
        for object_key in unused:
            self.objects.delete(object_key)
        for keys in self.objects.old_keys(UNUSED_SECONDS):
            known = self._database.read(partial(known_object_keys, keys=keys))
            for object_key in set(keys) - known:
                self.objects.delete(object_key)

    def keys_unchanged_for(self, seconds: float) -> list[str]:
        """List the keys of repositories that have not changed for this long."""
        before = add_duration(self._database.clock(), seconds=-seconds)
        return self._database.read(partial(list_keys_unchanged_since, moment=before))

    def change_refs(
        self,
        key: str,
        path: Path,
        updates: Sequence[ProposedUpdate],
        check: TransactionStep | None = None,
        record: TransactionStep | None = None,
        first_head: str | None = None,
        pushed: Sequence[str] = (),
        known: Collection[str] | None = None,
    ) -> None:
        """Upload the new objects, then change refs in one transaction; the local copy is up to date afterwards.

        Raises ``RefMoved``, ``RefNameConflict`` or ``InvalidTarget``.
        """
        copy = LocalCopy(path)
        tips = {update.new for update in updates if update.new != NO_OID}
        try:
            with new_packs(copy, tips, self._listed_names(key), pushed, known) as packs:
                # After the search for new packs: if there are none, the objects are in those that the bucket has.
                peeled = peeled_targets(path, updates)
                change = RefChangeSet(updates, peeled, self.objects.upload(packs), first_head)
                self._database.write(lambda db: change_refs_in_bucket(db, key, change, check, record))
        except RefMoved:
            # Another node was first; the caller looks at the refs again. If the copy was current, it is not what the
            # rows say, as after an import that was interrupted, and is written anew.
            if copy.generation() >= (self._database.read(partial(generation_or_none, key=key)) or 0):
                self.cache.drop(key)
                copy.forget()
            self._refresh_after(key, copy)
            raise
        self._refresh_after(key, copy)

    def set_head(self, key: str, path: Path, branch: str) -> None:
        """Point HEAD at a branch."""
        self._database.write(partial(change_head, key=key, branch=branch))
        self._refresh_after(key, LocalCopy(path))

    def publish(self, key: str, path: Path) -> None:
        """Store the refs that git has changed in the local copy itself, such as those of an import."""
        row = self._database.read(partial(repository_or_none, key=key))
        if row is None:
            raise MissingRepository(f"There is no repository {key}")
        before = {ref.name: ref.oid for ref in self._database.read(partial(list_refs, repository_id=row.id))}
        after = {ref.name: ref.oid for ref in local_refs(path)}
        head = _head_of(path)
        updates = [
            RefUpdate(name, before.get(name, NO_OID), after.get(name, NO_OID))
            for name in sorted(before.keys() | after.keys())
            if before.get(name) != after.get(name)
        ]
        copy = LocalCopy(path)
        unlisted = sorted(copy.pack_names() - self._listed_names(key))
        if updates:
            self.change_refs(key, path, updates, pushed=unlisted, known=set(before.values()))
        if head != row.head:
            self.set_head(key, path, head)

    def combine(self, key: str, path: Path) -> None:
        """Replace small packs by one with their objects, if there are several."""
        copy = LocalCopy(path)
        listed = self._packs(key)
        replaced = packs_to_combine(listed)
        if len(replaced) > 1:
            combined = combine_packs(copy, [pack.name for pack in replaced])
            if combined is not None and combined.stem not in {pack.name for pack in listed}:
                (uploaded,) = self.objects.upload([combined])
                # Another node has combined them already; what was uploaded is deleted with other unused objects.
                with suppress(PacksChanged):
                    self._database.write(partial(swap_packs, key=key, replaced=replaced, packed=uploaded))
                self._refresh_after(key, copy)
        copy.remove_leftovers(self._listed_names(key))

    def _packs(self, key: str) -> list[StoredPack]:
        row = self._database.read(partial(repository_or_none, key=key))
        return [] if row is None else self._database.read(partial(list_packs, repository_id=row.id))

    def _listed_names(self, key: str) -> set[str]:
        return {pack.name for pack in self._packs(key)}

    def _refresh_after(self, key: str, copy: LocalCopy) -> None:
        """Bring the local copy up to date after a change, which has succeeded even if that fails."""
        try:
            self._update_copy(key, copy)
        except (Unavailable, OSError, MissingRepository, DamagedRepository) as error:  # The next reader tries again.
            log_failure("local copy of a repository not updated", error)

    def _update_copy(self, key: str, copy: LocalCopy) -> None:
        with copy.lock():
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    self._update_locked(key, copy)
                except FileNotFoundError as error:  # A pack that was replaced since its row was read.
                    if attempt == _ATTEMPTS:
                        raise DamagedRepository(f"A pack of {key} is missing in the bucket") from error
                else:
                    break
        self.cache.remove_idle_sometimes()

    def _update_locked(self, key: str, copy: LocalCopy) -> None:
        known, cached = copy.generation(), LocalCopy(self.cache.path_of(key))
        copy.create()
        since = known or copy.take_refs(cached)
        snapshot = self._database.read(partial(read_snapshot, key=key, since=since or None))
        if snapshot is None:
            raise MissingRepository(f"There is no repository {key}")
        if known >= snapshot.row.generation:
            return
        self._add_missing_packs(copy, snapshot, cached)
        copy.write_refs(snapshot.refs, snapshot.row.head, is_complete=snapshot.is_complete)
        copy.finish(snapshot.row.generation)
        copy.remove_leftovers({pack.name for pack in snapshot.packs})
        self._keep(key, copy, snapshot.packs)

    def _keep(self, key: str, copy: LocalCopy, packs: Sequence[StoredPack | UploadedPack]) -> None:
        """Let the cache have the files of a copy, which is complete even if somebody deletes them meanwhile."""
        try:
            LocalCopy(self.cache.path_of(key)).keep(copy, packs)
        except OSError as error:
            log_failure("copy of a repository not kept in the cache", error)

    def _add_missing_packs(self, copy: LocalCopy, snapshot: RepositorySnapshot, cached: LocalCopy) -> None:
        lacking = copy.missing_packs(snapshot.packs)
        missing = {pack.name: pack for pack in lacking if not copy.link_pack(pack, cached)}
        if missing:
            self._link_from_other_copies(copy, missing)
        if not missing:
            return
        try:
            self.objects.download(list(missing.values()), copy.packs)
        except Unavailable as error:
            raise RepositoryBucketUnavailable from error
        self._downloaded_packs += len(missing)
        self._downloaded_bytes += sum(pack.pack_bytes + pack.index_bytes for pack in missing.values())
        self.cache.trim_sometimes()

    def _link_from_other_copies(self, copy: LocalCopy, missing: dict[str, StoredPack]) -> None:
        """Link packs that copies of forks, or of their parent, have; remove them from ``missing``."""
        packs = {pack.id: pack for pack in missing.values()}
        listed = self._database.read(partial(list_keys_of_packs, pack_ids=list(packs), limit=_LINK_CANDIDATES))
        for pack_id, key in listed:
            pack = packs[pack_id]
            if pack.name in missing and copy.link_pack(pack, LocalCopy(self.cache.path_of(key))):
                del missing[pack.name]


class BucketRefs:
    """Refs of one repository in the bucket."""

    def __init__(self, repositories: BucketRepositories, key: str, path: Path) -> None:
        self._repositories = repositories
        self._key = key
        self._path = path

    def update(
        self,
        updates: Sequence[ProposedUpdate],
        *,
        check: TransactionStep | None = None,
        record: TransactionStep | None = None,
        first_head: str | None = None,
        packs: Sequence[str] = (),
    ) -> None:
        """Store new objects and update refs, all or none (see ``RefStore``)."""
        self._repositories.change_refs(self._key, self._path, updates, check, record, first_head, packs)

    def set_head(self, branch: str) -> None:
        """Point HEAD at a branch."""
        self._repositories.set_head(self._key, self._path, branch)

    def has_branches(self, db: Connection) -> bool:
        """Return whether there is a branch, as the transaction sees it."""
        return has_branches(db, self._key)

    def publish(self) -> None:
        """Store the refs and objects that git has fetched into the local copy."""
        self._repositories.publish(self._key, self._path)

    def tidy(self) -> None:
        """Combine small packs."""
        self._repositories.combine(self._key, self._path)


def _head_of(folder: Path) -> str:
    return read_head(folder).removeprefix(b"refs/heads/").decode(errors="replace")
