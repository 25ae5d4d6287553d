"""State changes of pipeline triggers."""

import secrets

from msgspec import UNSET

from ingot.ci.triggers.params import EditTrigger
from ingot.ci.triggers.queries import find_trigger
from ingot.ci.triggers.tables import Trigger, triggers
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.projects.projects.tables import Project

MAX_LENGTH = 255
_TOKEN_BYTES = 15


def create_trigger(db: Connection, actor: Actor, project: Project, description: str) -> Trigger:
    """Create a trigger owned by the caller."""
    _validate(description)
    token = secrets.token_hex(_TOKEN_BYTES)
    trigger_id = db.insert(
        triggers,
        project_id=project.id,
        owner_id=actor.user_id,
        description=description,
        sealed_token=db.vault.seal(token),
        digest=db.vault.digest(token),
        created_at=db.now,
        updated_at=db.now,
    )
    return find_trigger(db, project, trigger_id)


def edit_trigger(db: Connection, project: Project, trigger: Trigger, params: EditTrigger) -> Trigger:
    """Update the fields that were sent."""
    if params.description is not UNSET:
        _validate(params.description)
        db.update(triggers, trigger.id, description=params.description, updated_at=db.now)
    return find_trigger(db, project, trigger.id)


def take_trigger_ownership(db: Connection, actor: Actor, project: Project, trigger: Trigger) -> Trigger:
    """Make the caller the owner of a trigger."""
    db.update(triggers, trigger.id, owner_id=actor.user_id, updated_at=db.now)
    return find_trigger(db, project, trigger.id)


def record_use(db: Connection, trigger_id: int) -> None:
    """Record that a trigger has started a pipeline."""
    db.update(triggers, trigger_id, last_used=db.now)


def delete_trigger(db: Connection, trigger: Trigger) -> None:
    """Delete a trigger."""
    db.delete(triggers, trigger.id)


def _validate(description: str) -> None:
    if not description.strip():
        raise Invalid(description=["can't be blank"])
    if len(description) > MAX_LENGTH:
        raise Invalid(description=[too_long_message(MAX_LENGTH)])
