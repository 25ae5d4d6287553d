"""Subscribers of ref changes and branch protection to events of projects and users."""

from sqlalchemy import bindparam, update

from ingot.accounts.instance.branch_protection import PROTECTIONS, UNPROTECTED
from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.git.writing.change_summary import CommitMessage, PushSummary
from ingot.projects.imports.events import ProjectImported
from ingot.projects.namespaces.group_rules import default_protection
from ingot.projects.projects.events import ProjectCreated, ProjectInitialized
from ingot.projects.projects.initial_commit import FIRST_COMMIT_MESSAGE
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import projects
from ingot.repositories.protection.service import protect_branch
from ingot.repositories.ref_changes.service import RepositoryState, open_intent, record_ref_updates
from ingot.repositories.ref_changes.tables import ref_changes, ref_intents

subscriptions = Subscriptions()
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
    protection = default_protection(db, project.namespace_id)
    if protection != PROTECTIONS[UNPROTECTED]:
        levels = protection.push_level, protection.merge_level
        forced = protection.allow_force_push
        protect_branch(db, project.id, project.default_branch, *levels, allow_force_push=forced)


@subscriptions.on(UserDeleting)
def reassign_changes(db: Connection, event: UserDeleting) -> None:
    """Assign recorded and pending changes of a deleted user to the placeholder user."""
    for statement in _REASSIGN:
        db.run(statement, user=event.user_id, placeholder=event.placeholder_id)
