"""What changes pipeline triggers."""

import secrets

from msgspec import UNSET

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import Invalid, too_long
from ingot.projects.tables import Project
from ingot.triggers.params import EditTrigger
from ingot.triggers.queries import find_trigger
from ingot.triggers.tables import Trigger, triggers

MOST_CHARACTERS = 255
_TOKEN_BYTES = 15


def create_trigger(db: Connection, actor: Actor, project: Project, description: str) -> Trigger:
    """Add a trigger, which its maker owns."""
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


def edit_trigger(db: Connection, project: Project, trigger: Trigger, wanted: EditTrigger) -> Trigger:
    """Change what was sent."""
    if wanted.description is not UNSET:
        _validate(wanted.description)
        db.update(triggers, trigger.id, description=wanted.description, updated_at=db.now)
    return find_trigger(db, project, trigger.id)


def take_trigger(db: Connection, actor: Actor, project: Project, trigger: Trigger) -> Trigger:
    """Let the caller own a trigger from now on."""
    db.update(triggers, trigger.id, owner_id=actor.user_id, updated_at=db.now)
    return find_trigger(db, project, trigger.id)


def delete_trigger(db: Connection, trigger: Trigger) -> None:
    """Let a trigger start nothing from now on."""
    db.delete(triggers, trigger.id)


def _validate(description: str) -> None:
    if not description.strip():
        raise Invalid(description=["can't be blank"])
    if len(description) > MOST_CHARACTERS:
        raise Invalid(description=[too_long(MOST_CHARACTERS)])
