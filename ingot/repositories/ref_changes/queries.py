"""Queries of ref intents and recorded changes."""

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
    """List all open intents, oldest first."""
    return db.all(RefIntent, _OPEN)


def open_intents_in(db: Connection, project_id: int) -> list[RefIntent]:
    """List the open intents of a project, oldest first."""
    return db.all(RefIntent, _OPEN_IN, project=project_id)


def intent_updates(intent: RefIntent) -> tuple[RefUpdate, ...]:
    """Return the updates of an intent."""
    return _decode(intent.updates)


def intent_actor_id(db: Connection, intent: RefIntent) -> int | None:
    """Return the user who makes a change: the placeholder user if the account was deleted after the change began."""
    rows = db.rows(_ACTOR, key=intent.key)
    return rows[0][0] if rows else intent.actor_id


def is_recorded_by_others(db: Connection, intent: RefIntent, update: RefUpdate) -> bool:
    """Return whether another intent with an equal update has recorded it since this intent was created."""
    change = {"ref": update.ref, "old": update.old, "new": update.new}
    scope = {"project": intent.project_id, "key": intent.key, "since": intent.created_at}
    return db.value(_RECORDED_BY_OTHERS, **change, **scope) is not None


def recorded_refs(db: Connection, key: str) -> set[str]:
    """Return the refs of an intent that are already recorded, by the request itself or by reconciliation."""
    return {ref for (ref,) in db.rows(_RECORDED, key=key)}


def lock_default_branch(db: Connection, project_id: int) -> str | None:
    """Return and lock the default branch of a project (None if it is empty) until this transaction ends."""
    rows = db.rows(_LOCK_DEFAULT_BRANCH, project=project_id)
    return rows[0][0] if rows and not rows[0][1] else None


def is_deletion_pending(db: Connection, project_id: int, branch: str) -> bool:
    """Whether an open intent deletes this branch."""
    intents = open_intents_in(db, project_id)
    return any(update.deletes and update.branch == branch for intent in intents for update in intent_updates(intent))
