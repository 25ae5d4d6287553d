"""Refs of a local copy in the form in which rows hold them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingot.git.bucket.tables import StoredRef
from ingot.git.core.errors import MissingRepository
from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.ref_store import ProposedUpdate
from ingot.git.core.refs import read_refs
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.writing.packed_updates import InvalidTarget, object_types

_INLINE_TARGETS = 50
"""Up to this number, reading the objects in process is faster than starting git."""


def local_refs(folder: Path) -> list[StoredRef]:
    """Return the refs of a repository; without names that are not UTF-8, which the API cannot return either."""
    refs = {}
    for raw, oid in read_refs(folder).items():
        try:
            refs[raw.decode()] = oid
        except UnicodeDecodeError:  # git accepts such names.
            continue
    _, peeled = object_types(Repository(folder), sorted(set(refs.values())))
    return [StoredRef(name, oid, peeled[oid]) for name, oid in refs.items()]


def peeled_targets(path: Path, updates: Sequence[ProposedUpdate]) -> dict[str, str | None]:
    """Return the object that each new object points at if it is an annotated tag; raise ``InvalidTarget``.

    Raises ``MissingRepository`` for an object that does not exist: the local copy was removed after it was written.
    """
    oids = sorted({update.new for update in updates if update.new != NO_OID})
    types, peeled = (
        _types_in_process(path, oids) if len(oids) <= _INLINE_TARGETS else object_types(Repository(path), oids)
    )
    for update in updates:
        kind = types.get(update.new)
        if update.new != NO_OID and kind is None:
            raise MissingRepository(f"The object {update.new} of {update.ref} is missing")
        if update.new != NO_OID and kind != "commit" and update.ref.startswith("refs/heads/"):
            raise InvalidTarget(update.ref)
    return peeled


def _types_in_process(path: Path, oids: Sequence[str]) -> tuple[dict[str, str | None], dict[str, str | None]]:
    if not oids:
        return {}, {}
    handle, tag = open_repository(path), pygit2_module().enums.ObjectType.TAG
    types: dict[str, str | None] = {}
    peeled: dict[str, str | None] = {}
    for oid in oids:
        found: Any = handle.get(oid)
        types[oid] = (
            None if found is None else found.type.name.lower() if hasattr(found.type, "name") else found.type_str
        )
        peeled[oid] = None
        try:
            while found is not None and found.type == tag:
                found = found.get_object()
                peeled[oid] = str(found.id)
        except (KeyError, pygit2_module().GitError):  # A tag of a missing object.
            types[oid] = None
    return types, peeled
