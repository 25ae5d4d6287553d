"""Queries of pipeline triggers."""

from sqlalchemy import bindparam, select

from ingot.accounts.users.tables import users
from ingot.ci.triggers.tables import Trigger, triggers
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.projects.tables import Project

_IN_PROJECT = (
    select(triggers, users.c.username, users.c.name, users.c.state, users.c.avatar_id, users.c.avatar_file, users.c.bot)
    .outerjoin(users, users.c.id == triggers.c.owner_id)
    .where(triggers.c.project_id == bindparam("project"))
)
_LIST = list_query(_IN_PROJECT, triggers.c.id, triggers.c.id.asc())
_BY_DIGEST = (
    select(triggers, users.c.username, users.c.name, users.c.state, users.c.avatar_id, users.c.avatar_file, users.c.bot)
    .outerjoin(users, users.c.id == triggers.c.owner_id)
    .where(triggers.c.digest == bindparam("digest"))
)
_BY_ID = _IN_PROJECT.where(triggers.c.id == bindparam("trigger"))


def list_triggers(db: Connection, project: Project, page: Page) -> Listing[Trigger]:
    """List a page of a project's triggers."""
    return fetch_page(db, Trigger, _LIST, page, project=project.id)


def trigger_or_none(db: Connection, project: Project, trigger_id: int) -> Trigger | None:
    """Return a project's trigger, if it exists."""
    return db.first(Trigger, _BY_ID, project=project.id, trigger=trigger_id)


def find_trigger(db: Connection, project: Project, trigger_id: int) -> Trigger:
    """Return a project's trigger; raise NotFound otherwise."""
    trigger = trigger_or_none(db, project, trigger_id)
    if trigger is None:
        raise NotFound("Trigger")
    return trigger


def trigger_by_token(db: Connection, token: str) -> Trigger | None:
    """Return the trigger with this token, if any."""
    return db.first(Trigger, _BY_DIGEST, digest=db.vault.digest(token))
