"""Storage of members of projects and groups."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.import_export.records import MemberRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import day_or_none, insert_rows, update_rows
from ingot.projects.members.queries import MemberSource
from ingot.projects.members.service import GLOBAL_NOTIFICATIONS
from ingot.projects.namespaces.tables import memberships
from ingot.projects.projects.queries import member_source

_HIGHEST = {"project": 40, "group": 50}
_LEVELS = (10, 20, 30, 40, 50)
_OF_USERS = select(memberships.c.user_id, memberships.c.id, memberships.c.access_level).where(
    memberships.c.source_kind == bindparam("kind"),
    memberships.c.source_id == bindparam("source"),
    in_list(memberships.c.user_id, "users"),
)


def store_members(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store the members of the project."""
    records = {change.key: change.record for change in changes}
    users = {change.key: context.user(change.record.user) for change in changes}
    imported = {change.local_id for change in changes if change.local_id}
    source = member_source(context.project)
    return write_members(context.db, source, records, users, imported, context.importer_id, context.problem)


def write_members(
    db: Connection,
    source: MemberSource,
    records: Mapping[str, MemberRecord],
    users: Mapping[str, int],
    imported: set[int],
    importer_id: int,
    problem: Callable[[str], None],
) -> dict[str, int | None]:
    """Store members of a project or group by key; memberships that this import has not created are left as they are."""
    rows = db.rows(_OF_USERS, kind=source.kind, source=source.id, users=list(users.values()))
    stored = {user_id: row_id for user_id, row_id, _ in rows}
    ids: dict[str, int | None] = {}
    inserted: dict[int, tuple[str, dict[str, Any]]] = {}
    updated: dict[int, dict[str, Any]] = {}
    for key, record in records.items():
        columns = _columns(db, source, record, problem)
        user_id = users[key]
        row_id = stored.get(user_id)
        ids[key] = row_id
        if columns is None or (row_id is None and user_id in inserted):
            ids[key] = None
        elif row_id is None:
            inserted[user_id] = key, columns
        elif row_id in imported and user_id not in (importer_id, source.owner_id):
            updated[row_id] = columns
    update_rows(db, memberships, updated.items())
    fixed = {
        "source_kind": source.kind,
        "source_id": source.id,
        "namespace_id": source.namespace_id,
        "notification_level": GLOBAL_NOTIFICATIONS,
        "created_at": db.now,
        "created_by_id": importer_id,
    }
    new = [{**fixed, "user_id": user_id, **columns} for user_id, (_, columns) in inserted.items()]
    return ids | dict(zip([key for key, _ in inserted.values()], insert_rows(db, memberships, new), strict=True))


def _columns(
    db: Connection, source: MemberSource, record: MemberRecord, problem: Callable[[str], None]
) -> dict[str, Any] | None:
    expires_at = day_or_none(record.expires_at)
    if record.user.bot:
        problem(f"The bot {record.user.username} was not made a member: it belongs to an access token of the source.")
        return None
    if record.access_level not in _LEVELS or (expires_at is not None and expires_at <= db.today):
        problem(f"The membership of {record.user.username} has no usable level or has expired.")
        return None
    return {"access_level": min(record.access_level, _HIGHEST[source.kind]), "expires_at": expires_at}
