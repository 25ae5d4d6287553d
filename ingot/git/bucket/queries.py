"""Queries of repositories in a bucket."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Text, bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.git.bucket.tables import (
    StoredPack,
    StoredRef,
    StoredRepository,
    repository_packs,
    stored_packs,
    stored_refs,
    stored_repositories,
)

_BRANCHES = "refs/heads/"
_GENERATION = select(stored_repositories.c.generation).where(stored_repositories.c.key == bindparam("key"))
_BY_KEY = select(stored_repositories).where(stored_repositories.c.key == bindparam("key"))
_LOCKED_BY_KEY = _BY_KEY.with_for_update()
_OF_REPOSITORY = stored_refs.c.repository_id == bindparam("repository")
_REF_COLUMNS = (stored_refs.c.name, stored_refs.c.oid, stored_refs.c.peeled)
_REFS = select(*_REF_COLUMNS).where(_OF_REPOSITORY, stored_refs.c.oid != "")
_CHANGED_REFS = select(*_REF_COLUMNS).where(_OF_REPOSITORY, stored_refs.c.generation > bindparam("since"))
_NAMED_REFS = select(*_REF_COLUMNS).where(_OF_REPOSITORY, in_list(stored_refs.c.name, "names"), stored_refs.c.oid != "")


def _begins_with(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Return the condition that a text begins with another; patterns would need escapes."""
    prefix = bindparam(name, type_=Text())
    return func.substr(column, 1, func.length(prefix)) == prefix


_REFS_BELOW = select(stored_refs.c.name).where(
    _OF_REPOSITORY, stored_refs.c.oid != "", _begins_with(stored_refs.c.name, "folder")
)
_ANY_BRANCH = (
    select(stored_refs.c.id)
    .join(stored_repositories, stored_repositories.c.id == stored_refs.c.repository_id)
    .where(
        stored_repositories.c.key == bindparam("key"),
        stored_refs.c.oid != "",
        _begins_with(stored_refs.c.name, "folder"),
    )
    .limit(1)
)
_PACK_COLUMNS = (
    stored_packs.c.id,
    stored_packs.c.object_key,
    stored_packs.c.name,
    stored_packs.c.pack_bytes,
    stored_packs.c.pack_sha256,
    stored_packs.c.index_bytes,
    stored_packs.c.index_sha256,
)
_PACKS = (
    select(*_PACK_COLUMNS)
    .join(repository_packs, repository_packs.c.pack_id == stored_packs.c.id)
    .where(repository_packs.c.repository_id == bindparam("repository"))
    .order_by(stored_packs.c.id)
)
_KEYS_OF_PACKS = (
    select(repository_packs.c.pack_id, stored_repositories.c.key)
    .join(stored_repositories, stored_repositories.c.id == repository_packs.c.repository_id)
    .where(in_list(repository_packs.c.pack_id, "packs"))
    .order_by(repository_packs.c.id)
    .limit(bindparam("number"))
)
_ALL_PACKS = select(*_PACK_COLUMNS).order_by(stored_packs.c.id)
_OBJECT_KEYS = select(stored_packs.c.object_key).where(in_list(stored_packs.c.object_key, "keys"))
_KEYS = select(stored_repositories.c.key).order_by(stored_repositories.c.id)
_OLD_KEYS = (
    select(stored_repositories.c.key)
    .where(stored_repositories.c.changed_at < bindparam("before"))
    .order_by(stored_repositories.c.id)
)


class RepositorySnapshot(NamedTuple):
    """State of a repository: its packs, and all refs or those that have changed since a generation."""

    row: StoredRepository
    packs: list[StoredPack]
    refs: list[StoredRef]
    is_complete: bool
    """Whether all refs are listed."""


def generation_or_none(db: Connection, key: str) -> int | None:
    """Return the generation of a repository, or None if it does not exist."""
    generation: int | None = db.value(_GENERATION, key=key)
    return generation


def repository_or_none(db: Connection, key: str) -> StoredRepository | None:
    """Return the row of a repository."""
    return db.first(StoredRepository, _BY_KEY, key=key)


def lock_repository_row(db: Connection, key: str) -> StoredRepository | None:
    """Return the row of a repository, which no other transaction changes until this one has ended."""
    return db.first(StoredRepository, _LOCKED_BY_KEY, key=key)


def read_snapshot(db: Connection, key: str, since: int | None) -> RepositorySnapshot | None:
    """Return the state of a repository; None if it does not exist. ``since`` is the generation that the caller has.

    Each statement may see another state, so that the reading is repeated until the generation stays the same.
    """
    while True:
        row = repository_or_none(db, key)
        if row is None:
            return None
        packs = list_packs(db, row.id)
        is_complete = since is None or since < row.refs_complete_since
        refs = (
            list_refs(db, row.id) if is_complete else db.all(StoredRef, _CHANGED_REFS, repository=row.id, since=since)
        )
        if generation_or_none(db, key) == row.generation:
            return RepositorySnapshot(row, packs, refs, is_complete)


def list_packs(db: Connection, repository_id: int) -> list[StoredPack]:
    """List the packs of a repository."""
    return db.all(StoredPack, _PACKS, repository=repository_id)


def list_refs(db: Connection, repository_id: int) -> list[StoredRef]:
    """List the refs of a repository."""
    return db.all(StoredRef, _REFS, repository=repository_id)


def named_refs(db: Connection, repository_id: int, names: Sequence[str]) -> dict[str, StoredRef]:
    """Return those of the refs that exist, by name."""
    return {ref.name: ref for ref in db.all(StoredRef, _NAMED_REFS, repository=repository_id, names=list(names))}


def refs_below(db: Connection, repository_id: int, folder: str) -> list[str]:
    """Return the names of the refs that begin with a text."""
    return [name for (name,) in db.rows(_REFS_BELOW, repository=repository_id, folder=folder)]


def has_branches(db: Connection, key: str) -> bool:
    """Return whether a repository has a branch."""
    return db.value(_ANY_BRANCH, key=key, folder=_BRANCHES) is not None


def list_keys_of_packs(db: Connection, pack_ids: Sequence[int], limit: int) -> list[tuple[int, str]]:
    """List some of the packs with the keys of the repositories that list them."""
    return [(pack_id, key) for pack_id, key in db.rows(_KEYS_OF_PACKS, packs=list(pack_ids), number=limit)]


def list_all_packs(db: Connection) -> list[StoredPack]:
    """List the packs of all repositories."""
    return db.all(StoredPack, _ALL_PACKS)


def known_object_keys(db: Connection, keys: Sequence[str]) -> set[str]:
    """Return those of the keys of objects that a row has."""
    return {key for (key,) in db.rows(_OBJECT_KEYS, keys=list(keys))}


def list_keys(db: Connection) -> list[str]:
    """List the keys of all repositories."""
    return [key for (key,) in db.rows(_KEYS)]


def list_keys_unchanged_since(db: Connection, moment: str) -> list[str]:
    """List the keys of repositories that have not changed since a moment."""
    return [key for (key,) in db.rows(_OLD_KEYS, before=moment)]
