"""Recording changes to references: an intent before, the record after, both in short transactions."""

import secrets
from collections.abc import Callable, Sequence

import msgspec
from sqlalchemy import bindparam, delete, update

from ingot.db.connection import Connection
from ingot.db.times import later
from ingot.events.bus import emit
from ingot.git.counting import Brought
from ingot.git.updating import RefUpdate
from ingot.projects.queries import project_or_none
from ingot.projects.service import measure_project, tidy_project
from ingot.projects.tables import projects
from ingot.repository.changes.events import RefsChanged
from ingot.repository.changes.queries import actor_of, recorded_refs
from ingot.repository.changes.tables import RefIntent, ref_changes, ref_intents
from ingot.repository.protection.service import move_protection

TIDY_AFTER_SECONDS = 60
"""Of many pushes in a row, one is followed by housekeeping."""
_DROP = delete(ref_intents).where(ref_intents.c.key == bindparam("intent_key"))
_NEXT = (
    update(projects)
    .where(projects.c.id == bindparam("project"))
    .values(
        generation=projects.c.generation + 1,
        last_activity_at=bindparam("moment"),
    )
)


class After(msgspec.Struct, frozen=True):
    """What a repository looks like after a change."""

    head: str
    is_empty: Callable[[], bool]
    """Asked when nobody else can record anything: of two who change it at once, the later one tells the truth."""
    brought: dict[str, Brought] = msgspec.field(default_factory=dict)
    """What came by the first of the changes, by the full names of their references."""
    arrived: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Those of the commits that somebody waits for which are new, by branch."""


def open_intent(
    db: Connection, project_id: int, actor_id: int | None, via: str, updates: Sequence[RefUpdate]
) -> RefIntent:
    """Say what is about to change, before git changes it."""
    key = secrets.token_hex(16)
    document = msgspec.json.encode(updates).decode()
    row = {"key": key, "project_id": project_id, "actor_id": actor_id, "via": via, "updates": document}
    number = db.insert(ref_intents, **row, created_at=db.now)
    return RefIntent(number, key, project_id, actor_id, via, document, db.now)


def drop_intent(db: Connection, key: str) -> None:
    """Forget a change that did not happen."""
    db.run(_DROP, intent_key=key)


def record(
    db: Connection, intent: RefIntent, happened: Sequence[RefUpdate], after: After, *, complete: bool = True
) -> None:
    """Record what happened, each change once, with all that follows; an intent that is complete is forgotten.

    Somebody else may have seen some of it and recorded that before.
    """
    actor_id = actor_of(db, intent)
    if complete:
        drop_intent(db, intent.key)
    known = recorded_refs(db, intent.key)
    happened = [each for each in happened if each.ref not in known]
    if not happened:
        return
    db.run(_NEXT, project=intent.project_id, moment=db.now)
    project = project_or_none(db, intent.project_id)
    if project is None:  # Deleted meanwhile: nothing follows any more.
        return
    common = {"project_id": project.id, "actor_id": actor_id, "key": intent.key, "via": intent.via}
    for each in happened:
        db.insert(ref_changes, **common, ref=each.ref, old=each.old, new=each.new, created_at=db.now)
    if project.empty and after.head != project.default_branch:
        db.update(projects, project.id, default_branch=after.head)
        move_protection(db, project.id, project.default_branch, after.head)
    db.update(projects, project.id, empty=after.is_empty())
    measure_project(db, project)
    tidy_project(db, project, run_at=later(db.now, seconds=TIDY_AFTER_SECONDS))
    emit(db, RefsChanged(project.id, actor_id, intent.via, tuple(happened), after.brought, after.arrived))
