"""Subscribers of ref changes and branch protection to events of projects and users."""

from sqlalchemy import bindparam, update

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.events import UserDeleting
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.git.writing.change_summary import CommitMessage, PushSummary
from ingot.projects.imports.events import ProjectImported
from ingot.projects.namespaces.queries import namespace_by_id
from ingot.projects.projects.events import ProjectCreated, ProjectInitialized
from ingot.projects.projects.initial_commit import FIRST_COMMIT_MESSAGE
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import projects
from ingot.repositories.protection.service import protect_branch
from ingot.repositories.ref_changes.service import RepositoryState, open_intent, record_ref_updates
from ingot.repositories.ref_changes.tables import ref_changes, ref_intents

subscriptions = Subscriptions()
_MASTERS, _DEVELOPERS = Level.MASTER, Level.DEVELOPER
# Levels for pushes and merges by the value of ``default_branch_protection``; 0 protects nothing.
_DEFAULT_PROTECTION = {0: None, 1: (_DEVELOPERS, _DEVELOPERS), 3: (_MASTERS, _DEVELOPERS)}
_REASSIGN = [
    update(table).where(table.c.actor_id == bindparam("user")).values(actor_id=bindparam("placeholder"))
    for table in (ref_changes, ref_intents)
]


@subscriptions.on(ProjectCreated)
def protect_default_branch(db: Connection, event: ProjectCreated) -> None:
    """Protect the default branch of a new project, even while it is empty."""
    _protect_default_branch(db, event.project_id)


@subscriptions.on(ProjectInitialized)
def record_first_commit(db: Connection, event: ProjectInitialized) -> None:
    """Record the initial commit of a new project, which git created before the project's row existed."""
    project = project_or_none(db, event.project_id)
    if project is not None:
        intent = open_intent(db, project.id, event.actor_id, "api", [event.update])
        messages = (CommitMessage(event.update.new, FIRST_COMMIT_MESSAGE),)
        summaries = {event.update.ref: PushSummary(1, FIRST_COMMIT_MESSAGE, messages)}
        record_ref_updates(
            db, intent, [event.update], RepositoryState(project.default_branch, lambda _: False, summaries)
        )


@subscriptions.on(ProjectImported)
def protect_imported_branch(db: Connection, event: ProjectImported) -> None:
    """Protect the default branch of an imported project and invalidate cached refs."""
    _protect_default_branch(db, event.project_id)
    project = project_or_none(db, event.project_id)
    if project is not None:
        db.update(projects, project.id, generation=project.generation + 1)


def _protect_default_branch(db: Connection, project_id: int) -> None:
    project = project_or_none(db, project_id)
    if project is None:
        return
    protection: int | None = namespace_by_id(db, project.namespace_id).options.default_branch_protection
    if protection is None:
        protection = current_settings(db).default_branch_protection
    levels = _DEFAULT_PROTECTION.get(protection, (_MASTERS, _MASTERS))
    if levels is not None:
        protect_branch(db, project.id, project.default_branch, *levels)


@subscriptions.on(UserDeleting)
def reassign_changes(db: Connection, event: UserDeleting) -> None:
    """Assign recorded and pending changes of a deleted user to the placeholder user."""
    for statement in _REASSIGN:
        db.run(statement, user=event.user_id, placeholder=event.placeholder_id)
