"""How changes to references are found."""

import msgspec
from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import projects
from ingot.repositories.ref_changes.tables import RefIntent, ref_changes, ref_intents

_OPEN = select(ref_intents).order_by(ref_intents.c.id)
_OPEN_IN = select(ref_intents).where(ref_intents.c.project_id == bindparam("project")).order_by(ref_intents.c.id)
_ACTOR = select(ref_intents.c.actor_id).where(ref_intents.c.key == bindparam("key"))
_RECORDED = select(ref_changes.c.ref).where(ref_changes.c.key == bindparam("key"))
_RECORDED_BY_OTHERS = select(ref_changes.c.id).where(
    ref_changes.c.project_id == bindparam("project"),
    ref_changes.c.ref == bindparam("ref"),
    ref_changes.c.old == bindparam("old"),
    ref_changes.c.new == bindparam("new"),
    ref_changes.c.key != bindparam("key"),
    ref_changes.c.created_at >= bindparam("since"),
)
_LOCK_DEFAULT_BRANCH = (
    select(projects.c.default_branch, projects.c.empty).where(projects.c.id == bindparam("project")).with_for_update()
)
_decode = msgspec.json.Decoder(tuple[RefUpdate, ...]).decode


def open_intents(db: Connection) -> list[RefIntent]:
    """All changes that began and did not end, the oldest first."""
    return db.all(RefIntent, _OPEN)


def open_intents_in(db: Connection, project_id: int) -> list[RefIntent]:
    """The same of one project."""
    return db.all(RefIntent, _OPEN_IN, project=project_id)


def intent_updates(intent: RefIntent) -> tuple[RefUpdate, ...]:
    """What an intent was to change."""
    return _decode(intent.updates)


def intent_actor_id(db: Connection, intent: RefIntent) -> int | None:
    """Who makes a change: the account may have been deleted since it began, and what it did handed over."""
    rows = db.rows(_ACTOR, key=intent.key)
    return rows[0][0] if rows else intent.actor_id


def is_recorded_by_others(db: Connection, intent: RefIntent, update: RefUpdate) -> bool:
    """Whether somebody else, who wanted the very same, has made a change of an intent since."""
    wanted = {"ref": update.ref, "old": update.old, "new": update.new}
    where = {"project": intent.project_id, "key": intent.key, "since": intent.created_at}
    return db.value(_RECORDED_BY_OTHERS, **wanted, **where) is not None


def recorded_refs(db: Connection, key: str) -> set[str]:
    """Which changes of an intent were recorded already, be it by whoever made them or by somebody who settled it."""
    return {ref for (ref,) in db.rows(_RECORDED, key=key)}


def lock_default_branch(db: Connection, project_id: int) -> str | None:
    """The default branch of a project that is not empty; nobody chooses another one until this is committed."""
    rows = db.rows(_LOCK_DEFAULT_BRANCH, project=project_id)
    return rows[0][0] if rows and not rows[0][1] else None


def is_deletion_pending(db: Connection, project_id: int, branch: str) -> bool:
    """Whether an open intent deletes this branch."""
    intents = open_intents_in(db, project_id)
    return any(update.deletes and update.branch == branch for intent in intents for update in intent_updates(intent))
