"""Records of ref changes: an intent before git updates the refs and a record after it, each in a short transaction."""

import secrets
from collections.abc import Callable, Sequence

import msgspec
from sqlalchemy import bindparam, delete, update

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.events.bus import emit
from ingot.git.writing.change_summary import PushSummary
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.service import enqueue_housekeeping, enqueue_statistics_update
from ingot.projects.projects.tables import projects
from ingot.repositories.protection.service import rename_branch_rule
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.repositories.ref_changes.queries import intent_actor_id, recorded_refs
from ingot.repositories.ref_changes.tables import RefIntent, ref_changes, ref_intents

HOUSEKEEPING_DELAY_SECONDS = 60
"""Debounces housekeeping: it runs once after a series of pushes."""
_DELETE_INTENT = delete(ref_intents).where(ref_intents.c.key == bindparam("intent_key"))
_NEXT_GENERATION = (
    update(projects)
    .where(projects.c.id == bindparam("project"))
    .values(
        generation=projects.c.generation + 1,
        last_activity_at=bindparam("moment"),
    )
)


class RepositoryState(msgspec.Struct, frozen=True):
    """State of a repository after a change."""

    head: str
    is_empty: Callable[[Connection], bool]
    """Called while other records are locked out, so that the later of two concurrent changes sees the final state."""
    summaries: dict[str, PushSummary] = msgspec.field(default_factory=dict)
    """Summaries of the first updates, by full ref name."""
    merged_heads: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Awaited commits that are new on a branch, by branch."""
    configured_refs: tuple[str, ...] = ()
    """Full names of updated refs whose commits have a configuration of pipelines."""


def new_intent(
    now: Timestamp,
    project_id: int,
    actor_id: int | None,
    via: str,
    updates: Sequence[RefUpdate],
    deploy_key_id: int | None = None,
    push_options: Sequence[str] = (),
) -> RefIntent:
    """Return an intent that is not stored: where one transaction changes and records refs, it is never."""
    key = secrets.token_hex(16)
    document = msgspec.json.encode(updates).decode()
    options = msgspec.json.encode(push_options).decode() if push_options else None
    return RefIntent(0, key, project_id, actor_id, via, document, now, deploy_key_id, options)


def store_intent(db: Connection, intent: RefIntent) -> RefIntent:
    """Store the intent to change refs, before git changes them."""
    columns = {name: value for name, value in msgspec.structs.asdict(intent).items() if name != "id"}
    number = db.insert(ref_intents, **{**columns, "created_at": db.now})
    return msgspec.structs.replace(intent, id=number, created_at=db.now)


def open_intent(
    db: Connection, project_id: int, actor_id: int | None, via: str, updates: Sequence[RefUpdate]
) -> RefIntent:
    """Store the intent of a change that was made already."""
    return store_intent(db, new_intent(db.now, project_id, actor_id, via, updates))


def delete_intent(db: Connection, key: str) -> None:
    """Delete the intent of a change that did not happen."""
    db.run(_DELETE_INTENT, intent_key=key)


def record_ref_updates(
    db: Connection, intent: RefIntent, completed: Sequence[RefUpdate], after: RepositoryState, *, complete: bool = True
) -> None:
    """Record completed updates, each once, and emit the event; delete the intent if it is complete.

    Reconciliation in another process may have recorded some of them already.
    """
    actor_id = intent_actor_id(db, intent)
    if complete:
        delete_intent(db, intent.key)
    recorded = recorded_refs(db, intent.key)
    completed = [each for each in completed if each.ref not in recorded]
    if not completed:
        return
    db.run(_NEXT_GENERATION, project=intent.project_id, moment=db.now)
    project = project_or_none(db, intent.project_id)
    if project is None:  # Deleted in the meantime.
        return
    origin = {"via": intent.via, "deploy_key_id": intent.deploy_key_id}
    common = {"project_id": project.id, "actor_id": actor_id, "key": intent.key, "created_at": db.now, **origin}
    db.insert_many(ref_changes, [{**common, "ref": each.ref, "old": each.old, "new": each.new} for each in completed])
    if project.empty and after.head != project.default_branch:
        db.update(projects, project.id, default_branch=after.head)
        rename_branch_rule(db, project.id, project.default_branch, after.head)
    db.update(projects, project.id, empty=after.is_empty(db))
    enqueue_statistics_update(db, project)
    enqueue_housekeeping(db, project, run_at=add_duration(db.now, seconds=HOUSEKEEPING_DELAY_SECONDS))
    emit(
        db,
        RefsChanged(
            project.id,
            actor_id,
            intent.via,
            tuple(completed),
            after.summaries,
            after.merged_heads,
            intent.deploy_key_id,
            after.configured_refs,
            msgspec.json.decode(intent.push_options, type=tuple[str, ...]) if intent.push_options else (),
            intent.key,
        ),
    )
