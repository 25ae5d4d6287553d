"""How pipeline triggers are found and listed."""

from sqlalchemy import bindparam, select

from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page, fetch_page, list_query
from ingot.errors import NotFound
from ingot.projects.tables import Project
from ingot.triggers.tables import Trigger, triggers
from ingot.users.accounts.tables import users

_HERE = (
    select(triggers, users.c.username, users.c.name, users.c.state, users.c.avatar_id, users.c.avatar_file)
    .outerjoin(users, users.c.id == triggers.c.owner_id)
    .where(triggers.c.project_id == bindparam("project"))
)
_LIST = list_query(_HERE, triggers.c.id, triggers.c.id.asc())
_BY_ID = _HERE.where(triggers.c.id == bindparam("trigger"))


def list_triggers(db: Connection, project: Project, page: Page) -> Listing[Trigger]:
    """A page of a project's triggers."""
    return fetch_page(db, Trigger, _LIST, page, project=project.id)


def trigger_or_none(db: Connection, project: Project, trigger_id: int) -> Trigger | None:
    """One of a project's triggers."""
    return db.first(Trigger, _BY_ID, project=project.id, trigger=trigger_id)


def find_trigger(db: Connection, project: Project, trigger_id: int) -> Trigger:
    """The same, where there must be one."""
    trigger = trigger_or_none(db, project, trigger_id)
    if trigger is None:
        raise NotFound("Trigger")
    return trigger
