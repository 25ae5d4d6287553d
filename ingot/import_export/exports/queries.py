"""Queries of exports."""

from collections.abc import Collection

from sqlalchemy import Text, bindparam, cast, exists, literal, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.db.times import add_duration
from ingot.core.jobs.tables import jobs
from ingot.import_export.exports.tables import Export, exports
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project

JOB_KEY = "export "
Exported = Project | Namespace
"""Project or group that is exported."""
_OF_USER = select(exports).where(exports.c.user_id == bindparam("user")).order_by(exports.c.id)
_BY_OWNER = {
    "project_id": _OF_USER.where(exports.c.project_id == bindparam("owner")),
    "group_id": _OF_USER.where(exports.c.group_id == bindparam("owner")),
}
_BY_ID = select(exports).where(exports.c.id == bindparam("export"))
_EXPIRED = select(exports).where(exports.c.expires_at <= bindparam("now")).order_by(exports.c.id)
_KEYS = select(exports.c.storage_key).where(in_list(exports.c.storage_key, "keys"))
_KEY = literal(JOB_KEY) + cast(exports.c.id, Text)
_LOST = select(exports).where(
    one_of(exports.c.status, "queued", "started"),
    # One job writes all relations of a project; it never takes a day.
    or_(exports.c.relation == "", exports.c.updated_at < bindparam("yesterday")),
    ~exists().where(jobs.c.unique_key == _KEY, one_of(jobs.c.state, "waiting", "running")),
)


def owner_column(subject: Exported) -> str:
    """Return the column that refers to a project or group."""
    return "project_id" if isinstance(subject, Project) else "group_id"


def exports_of_user(db: Connection, subject: Exported, user_id: int) -> dict[str, Export]:
    """Return the exports of a project or group that a user has started, by relation; "" is the whole archive."""
    rows = db.all(Export, _BY_OWNER[owner_column(subject)], user=user_id, owner=subject.id)
    return {export.relation: export for export in rows}


def export_or_none(db: Connection, export_id: int) -> Export | None:
    """Return an export, or None if it was deleted with its project, group or user."""
    return db.first(Export, _BY_ID, export=export_id)


def expired_exports(db: Connection) -> list[Export]:
    """Return the exports whose files are deleted now."""
    return db.all(Export, _EXPIRED, now=db.now)


def lost_exports(db: Connection) -> list[Export]:
    """Return the exports that wait for a job that no longer exists."""
    return db.all(Export, _LOST, yesterday=add_duration(db.now, days=-1))


def existing_keys(db: Connection, keys: Collection[str]) -> set[str]:
    """Return those keys of files that belong to an export."""
    return {key for (key,) in db.rows(_KEYS, keys=list(keys))}
