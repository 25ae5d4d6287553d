"""Rows that were created for objects of a source, so that an import can be continued and repeated."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import bindparam, delete, select, update

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.import_export.tables import import_links
from ingot.import_export.work_item_records import Transferred

_links = import_links
_OF_IMPORT = (_links.c.import_id == bindparam("import"), _links.c.kind == bindparam("of_kind"))
_BY_KEYS = select(_links.c.key, _links.c.local_id, _links.c.fingerprint).where(
    *_OF_IMPORT, in_list(_links.c.key, "keys")
)
_UPDATE = (
    update(_links)
    .where(*_OF_IMPORT, _links.c.key == bindparam("of_key"))
    .values(local_id=bindparam("row"), fingerprint=bindparam("new_fingerprint"))
)
_DELETE = delete(_links).where(*_OF_IMPORT, in_list(_links.c.key, "keys"))
_encoder = msgspec.json.Encoder(order="deterministic")


class RowLink(NamedTuple):
    """Row of an object of the source, and the fingerprint of the record from which it was last written."""

    local_id: int
    fingerprint: str


def linked(db: Connection, import_id: int, kind: str, keys: Sequence[str]) -> dict[str, RowLink]:
    """Return the links of those objects that have been imported, by their keys."""
    if not keys:
        return {}
    rows = db.rows(_BY_KEYS, **{"import": import_id, "of_kind": kind, "keys": list(keys)})
    return {key: RowLink(local_id, digest) for key, local_id, digest in rows}


def store_links(db: Connection, import_id: int, kind: str, rows: Sequence[tuple[str, int, str]]) -> None:
    """Store the key, the row and the fingerprint of imported objects; links that exist are updated."""
    known = linked(db, import_id, kind, [key for key, _, _ in rows])
    new: dict[str, dict[str, object]] = {}
    for key, local_id, digest in rows:
        if key not in known:
            columns = {"import_id": import_id, "kind": kind, "key": key}
            new[key] = {**columns, "local_id": local_id, "fingerprint": digest}
        elif known[key] != (local_id, digest):
            values = {"import": import_id, "of_kind": kind, "of_key": key, "row": local_id, "new_fingerprint": digest}
            db.run(_UPDATE, **values)
    db.insert_many(_links, list(new.values()))


def delete_links(db: Connection, import_id: int, kind: str, keys: Sequence[str]) -> None:
    """Delete the links of objects whose rows were deleted."""
    db.run(_DELETE, **{"import": import_id, "of_kind": kind, "keys": list(keys)})


def fingerprint(record: Transferred) -> str:
    """Return a digest of a record, by which a repeated import recognizes what has not changed."""
    return hashlib.sha256(_encoder.encode(record)).hexdigest()
