"""State changes of the rows of repositories in a bucket."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, exists, select
from sqlalchemy import update as sql_update

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import add_duration, to_datetime
from ingot.git.bucket.queries import list_packs, list_refs, lock_repository_row, named_refs, refs_below
from ingot.git.bucket.tables import (
    StoredPack,
    StoredRef,
    StoredRepository,
    repository_packs,
    stored_packs,
    stored_refs,
    stored_repositories,
)
from ingot.git.core.errors import MissingRepository
from ingot.git.core.ref_store import ProposedUpdate, TransactionStep
from ingot.git.history.commits import NO_OID
from ingot.git.writing.ref_updates import RefMoved, RefNameConflict

_HEADS = "refs/heads/"
_SEPARATE_NAMES = 5
"""Above this number of created refs, all refs are read to find names that cannot exist beside each other."""
_DELETE_NAMED = delete(stored_refs).where(
    stored_refs.c.repository_id == bindparam("repository"), in_list(stored_refs.c.name, "names")
)
_TOUCH = (
    sql_update(stored_repositories)
    .where(stored_repositories.c.key == bindparam("key"))
    .values(changed_at=bindparam("moment"))
)
_DELETE_REPOSITORY = delete(stored_repositories).where(stored_repositories.c.key == bindparam("key"))
_FORGET = [delete(table) for table in (repository_packs, stored_refs, stored_repositories, stored_packs)]
_UNLIST = delete(repository_packs).where(
    repository_packs.c.repository_id == bindparam("repository"), in_list(repository_packs.c.pack_id, "packs")
)
_IS_LISTED = exists().where(repository_packs.c.pack_id == stored_packs.c.id)
_MARK_UNLISTED = (
    sql_update(stored_packs)
    .where(stored_packs.c.unlisted_at.is_(None), ~_IS_LISTED)
    .values(unlisted_at=bindparam("moment"))
)
_MARK_LISTED = (
    sql_update(stored_packs).where(stored_packs.c.unlisted_at.is_not(None), _IS_LISTED).values(unlisted_at=None)
)
_UNUSED = select(stored_packs.c.id, stored_packs.c.object_key).where(
    stored_packs.c.unlisted_at <= bindparam("before"), ~_IS_LISTED
)
_DELETE_TOMBSTONES = delete(stored_refs).where(
    stored_refs.c.repository_id == bindparam("repository"), stored_refs.c.oid == ""
)


class UploadedPack(NamedTuple):
    """A pack and its index that are in the bucket, and not yet in a row."""

    object_key: str
    name: str
    pack_bytes: int
    pack_sha256: str
    index_bytes: int
    index_sha256: str


class RefChangeSet(NamedTuple):
    """Change of a repository: refs from their old to their new values, and the packs with the new objects."""

    updates: Sequence[ProposedUpdate]
    peeled: Mapping[str, str | None]
    """Objects that annotated tags point at, by the new objects."""
    packs: Sequence[UploadedPack]
    first_head: str | None = None
    """Branch for HEAD if that of HEAD does not exist."""


class PacksChanged(Exception):
    """Packs that were to be replaced or shared are no longer listed."""


def add_repository(
    db: Connection, key: str, head: str, refs: Sequence[StoredRef] = (), packs: Sequence[UploadedPack] = ()
) -> StoredRepository:
    """Store a new repository with its refs and packs.

    The first generation is the time in milliseconds, so that no copy of a repository that had the same key before, such
    as at the first attempt of an import, seems to be current.
    """
    generation = int(to_datetime(db.now).timestamp() * 1000)
    columns = {"head": head, "generation": generation, "refs_complete_since": generation, "changed_at": db.now}
    repository_id = db.insert(stored_repositories, key=key, **columns)
    _insert_refs(db, repository_id, refs, generation)
    _list_uploaded(db, repository_id, packs)
    return StoredRepository(repository_id, key, head, generation, generation, db.now)


def add_fork(
    db: Connection, source: StoredRepository, key: str, refs: Sequence[StoredRef], packs: Sequence[StoredPack]
) -> None:
    """Store a repository that lists packs of another one.

    Raise ``MissingRepository`` if that was deleted, and ``PacksChanged`` if it does not list one of them any more.
    """
    _locked(db, source.key)
    _require_listed(db, source.id, packs)
    fork = add_repository(db, key, source.head, refs)
    db.insert_many(repository_packs, [{"repository_id": fork.id, "pack_id": pack.id} for pack in packs])


def remove_repository(db: Connection, key: str) -> None:
    """Delete the rows of a repository; a job deletes packs that no other one lists."""
    db.run(_DELETE_REPOSITORY, key=key)


def forget_repositories(db: Connection) -> None:
    """Delete all rows; a restored instance has its repositories in directories."""
    for statement in _FORGET:
        db.run(statement)


def touch_repository(db: Connection, key: str) -> None:
    """Treat a repository as if it had just changed."""
    db.run(_TOUCH, key=key, moment=db.now)


def change_refs_in_bucket(
    db: Connection,
    key: str,
    change: RefChangeSet,
    check: TransactionStep | None = None,
    record: TransactionStep | None = None,
) -> None:
    """Compare the old values of refs, write the new ones and the packs, and run the steps of the caller around it.

    Raise ``RefMoved``, ``RefNameConflict`` or ``MissingRepository``.
    """
    if check is not None:
        check(db)
    row = _locked(db, key)
    _require_old_refs(db, row, change.updates)
    _write_refs(db, row, change)
    _list_uploaded(db, row.id, change.packs)
    head = row.head
    if change.first_head is not None and not named_refs(db, row.id, [_HEADS + head]).get(_HEADS + head):
        head = change.first_head
    _advance(db, row, head=head)
    if record is not None:
        record(db)


def change_head(db: Connection, key: str, branch: str) -> None:
    """Point HEAD at a branch."""
    row = _locked(db, key)
    if row.head != branch:
        _advance(db, row, head=branch)


def swap_packs(db: Connection, key: str, replaced: Sequence[StoredPack], packed: UploadedPack) -> None:
    """List a pack instead of those whose objects it has; raise ``PacksChanged`` if one of these is gone.

    Rows of deleted refs are removed here too: a copy of an older generation reads all refs.
    """
    row = _locked(db, key)
    _require_listed(db, row.id, replaced)
    db.run(_UNLIST, repository=row.id, packs=[pack.id for pack in replaced])
    _list_uploaded(db, row.id, [packed])
    db.run(_DELETE_TOMBSTONES, repository=row.id)
    db.update(
        stored_repositories,
        row.id,
        generation=row.generation + 1,
        refs_complete_since=row.generation + 1,
        changed_at=db.now,
    )


def mark_unlisted_packs(db: Connection) -> None:
    """Record since when packs are listed by no repository."""
    db.run(_MARK_LISTED)
    db.run(_MARK_UNLISTED, moment=db.now)


def delete_unlisted_packs(db: Connection, older_than_seconds: float) -> list[str]:
    """Delete the rows of packs that no repository has listed for a while; return the keys of their objects."""
    unused = db.rows(_UNUSED, before=add_duration(db.now, seconds=-older_than_seconds))
    for pack_id, _ in unused:
        db.delete(stored_packs, pack_id)
    return [key for _, key in unused]


def _locked(db: Connection, key: str) -> StoredRepository:
    row = lock_repository_row(db, key)
    if row is None:
        raise MissingRepository(f"There is no repository {key}")
    return row


def _require_listed(db: Connection, repository_id: int, packs: Sequence[StoredPack]) -> None:
    if not {pack.id for pack in packs} <= {pack.id for pack in list_packs(db, repository_id)}:
        raise PacksChanged


def _advance(db: Connection, row: StoredRepository, *, head: str) -> None:
    db.update(stored_repositories, row.id, generation=row.generation + 1, head=head, changed_at=db.now)


def _require_old_refs(db: Connection, row: StoredRepository, updates: Sequence[ProposedUpdate]) -> None:
    current = named_refs(db, row.id, [update.ref for update in updates])
    for update in updates:
        ref = current.get(update.ref)
        if (NO_OID if ref is None else ref.oid) != update.old:
            raise RefMoved
    deleted = {update.ref for update in updates if update.new == NO_OID}
    created = [update.ref for update in updates if update.old == NO_OID]
    if created:
        _require_free_names(db, row, created, deleted)


def _require_free_names(db: Connection, row: StoredRepository, created: Sequence[str], deleted: set[str]) -> None:
    """Raise ``RefNameConflict`` if ``a`` and ``a/b`` would exist."""
    above: dict[str, str] = {}
    for name in created:
        parts = name.split("/")
        above |= {"/".join(parts[:count]): name for count in range(3, len(parts))}
    taken = (named_refs(db, row.id, list(above)).keys() - deleted) | (above.keys() & set(created))
    for name in sorted(taken):
        raise RefNameConflict(above[name], name)
    for name, below in _names_below(db, row, created):
        if below not in deleted:
            raise RefNameConflict(name, below)


def _names_below(db: Connection, row: StoredRepository, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names of which one is a folder of the other, with those; of many, with one statement."""
    if len(names) <= _SEPARATE_NAMES:
        for name in names:
            for below in refs_below(db, row.id, f"{name}/"):
                yield name, below
        return
    wanted = set(names)
    for ref in list_refs(db, row.id):
        parts = ref.name.split("/")
        for count in range(3, len(parts)):
            if (above := "/".join(parts[:count])) in wanted:
                yield above, ref.name


def _write_refs(db: Connection, row: StoredRepository, change: RefChangeSet) -> None:
    if not change.updates:
        return
    db.run(_DELETE_NAMED, repository=row.id, names=[update.ref for update in change.updates])
    refs = [
        StoredRef(update.ref, "", None)
        if update.new == NO_OID
        else StoredRef(update.ref, update.new, change.peeled.get(update.new))
        for update in change.updates
    ]
    _insert_refs(db, row.id, refs, row.generation + 1)


def _insert_refs(db: Connection, repository_id: int, refs: Sequence[StoredRef], generation: int) -> None:
    common = {"repository_id": repository_id, "generation": generation}
    rows = [{**common, "name": ref.name, "oid": ref.oid, "peeled": ref.peeled} for ref in refs]
    db.insert_many(stored_refs, rows)


def _list_uploaded(db: Connection, repository_id: int, packs: Sequence[UploadedPack]) -> None:
    for pack in packs:
        pack_id = db.insert(stored_packs, **pack._asdict(), created_at=db.now, unlisted_at=None)
        db.insert_row(repository_packs, repository_id=repository_id, pack_id=pack_id)
