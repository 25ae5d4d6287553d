"""What becomes of the record of changes, and of what is protected, when others act."""

from sqlalchemy import bindparam, update

from ingot.db.connection import Connection
from ingot.errors import Invalid
from ingot.events.bus import Subscriptions
from ingot.git.counting import Brought, Message
from ingot.projects.beginnings import FIRST_MESSAGE
from ingot.projects.events import DefaultBranchChosen, ProjectBegun, ProjectCreated
from ingot.projects.imports.events import ProjectImported
from ingot.projects.queries import project_or_none
from ingot.projects.tables import projects
from ingot.repository.changes.queries import open_intents_in, updates_of
from ingot.repository.changes.service import After, open_intent, record
from ingot.repository.changes.tables import ref_changes, ref_intents
from ingot.repository.protection.service import protect_branch
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_HAND_OVER = [
    update(table).where(table.c.actor_id == bindparam("user")).values(actor_id=bindparam("placeholder"))
    for table in (ref_changes, ref_intents)
]


@subscriptions.on(ProjectCreated)
def protect_default_branch(db: Connection, event: ProjectCreated) -> None:
    """The default branch of a new project is for masters, also before anything is in it."""
    _protect_default_branch(db, event.project_id)


@subscriptions.on(ProjectBegun)
def record_first_commit(db: Connection, event: ProjectBegun) -> None:
    """Git has changed before there was a project; the record and all that follows is the same as of any change."""
    project = project_or_none(db, event.project_id)
    if project is not None:
        intent = open_intent(db, project.id, event.actor_id, "api", [event.update])
        said = (Message(event.update.new, FIRST_MESSAGE),)
        brought = {event.update.ref: Brought(1, FIRST_MESSAGE, said)}
        record(db, intent, [event.update], After(project.default_branch, lambda: False, brought))


@subscriptions.on(DefaultBranchChosen)
def refuse_leaving_branch(db: Connection, event: DefaultBranchChosen) -> None:
    """A branch that is about to be deleted does not become the default one."""
    for intent in open_intents_in(db, event.project_id):
        if any(update.deletes and update.branch == event.branch for update in updates_of(intent)):
            raise Invalid(default_branch=["does not exist"])


@subscriptions.on(ProjectImported)
def protect_imported_branch(db: Connection, event: ProjectImported) -> None:
    """An import may bring another default branch, and all references are new."""
    _protect_default_branch(db, event.project_id)
    project = project_or_none(db, event.project_id)
    if project is not None:
        db.update(projects, project.id, generation=project.generation + 1)


def _protect_default_branch(db: Connection, project_id: int) -> None:
    project = project_or_none(db, project_id)
    if project is not None:
        protect_branch(db, project.id, project.default_branch)


@subscriptions.on(UserDeleting)
def hand_over_changes(db: Connection, event: UserDeleting) -> None:
    """What somebody pushed stays, in the name of the placeholder; so does what is still under way."""
    for statement in _HAND_OVER:
        db.run(statement, user=event.user_id, placeholder=event.placeholder_id)
