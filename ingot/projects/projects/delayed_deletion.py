"""Deletion of projects after a period, in which owners can restore them."""

from sqlalchemy import select

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration, day_of
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.core.names import NAMESPACES
from ingot.projects.groups.delayed_deletion import delete_scheduled_group
from ingot.projects.namespaces.group_rules import require_no_deletion_around
from ingot.projects.namespaces.queries import namespace_by_id, namespace_by_path, subtree_of
from ingot.projects.namespaces.scheduled_deletion import (
    DeleteScheduled,
    require_deletion_allowed,
    require_deletion_at_once,
    restored_name,
    scheduled_name,
    suffix_of_restored,
)
from ingot.projects.projects.options import edited_options, project_options
from ingot.projects.projects.params import EditProject
from ingot.projects.projects.queries import (
    existing_project,
    project_id_by_name_or_none,
    project_id_by_path_or_none,
    project_or_none,
    projects_in_namespace,
)
from ingot.projects.projects.service import delete_project, edit_project
from ingot.projects.projects.tables import Project, projects

DELETE_PROJECT = "delete_scheduled_project"
_MARKED = (
    select(projects.c.id, projects.c.options_document)
    .where(projects.c.namespace_id.is_not(None), projects.c.options_document.contains('"marked_for_deletion_on"'))
    .order_by(projects.c.id)
)


def request_project_deletion(db: Connection, actor: Actor, project: Project, params: DeleteScheduled) -> bool:
    """Delete a project, or schedule it if the instance delays deletions; return whether it was scheduled."""
    db.must_hold(NAMESPACES)
    require_deletion_allowed(db, actor)
    delayed = all_settings(db).deletion_adjourned_period > 0
    marked_on = project.options.marked_for_deletion_on
    if delayed and not params.permanently_remove and marked_on is None:
        schedule_project_deletion(db, actor, project)
        return True
    if delayed:
        require_deletion_at_once("Project", marked_on, project.full_path, params)
    delete_project(db, project)
    return False


def schedule_project_deletion(db: Connection, actor: Actor, project: Project) -> None:
    """Mark a project, make it read-only, and rename it so that its name and path can be used again."""
    names = EditProject(name=scheduled_name(project.name, project.id), path=scheduled_name(project.path, project.id))
    renamed = edit_project(db, actor, project, names)
    marked = {
        "marked_for_deletion_on": day_of(db.now),
        "name_before_deletion": project.name,
        "path_before_deletion": project.path,
    }
    document = edited_options(renamed.options_document, marked)
    db.update(projects, project.id, options_document=document)
    _archive(db, project.id)


def restore_project(db: Connection, actor: Actor, project: Project) -> Project:
    """Take back the scheduled deletion of a project; raise Invalid if there is none.

    The project gets a new name and path if others use the former ones by now.
    """
    db.must_hold(NAMESPACES)
    options = project.options
    if options.marked_for_deletion_on is None:
        raise Invalid("Project has not been marked for deletion")
    namespace = namespace_by_id(db, project.namespace_id)
    require_no_deletion_around(db, namespace)
    cleared = dict.fromkeys(("marked_for_deletion_on", "name_before_deletion", "path_before_deletion"))
    db.update(projects, project.id, options_document=edited_options(project.options_document, cleared))
    _unarchive(db, project.id)
    name = restored_name(project.name, options.name_before_deletion, project.id)
    path = restored_name(project.path, options.path_before_deletion, project.id)
    full_path = f"{namespace.full_path}/{path}"
    holders = {
        project_id_by_path_or_none(db, full_path),
        project_id_by_name_or_none(db, namespace.id, name),
    }
    taken = bool(holders - {None, project.id}) or namespace_by_path(db, full_path) is not None
    suffix = suffix_of_restored(taken)
    names = EditProject(name=name + suffix, path=path + suffix)
    return edit_project(db, actor, existing_project(db, project.id), names)


def archive_projects_below(db: Connection, group_id: int) -> None:
    """Make the projects below a group that is scheduled for deletion read-only."""
    for namespace in subtree_of(db, group_id):
        for project in projects_in_namespace(db, namespace.id):
            _archive(db, project.id)


def unarchive_projects_below(db: Connection, group_id: int) -> None:
    """Make the projects below a restored group writable again, except those that were not before, or are scheduled."""
    for namespace in subtree_of(db, group_id):
        for project in projects_in_namespace(db, namespace.id):
            if project.options.marked_for_deletion_on is None:
                _unarchive(db, project.id)


def _archive(db: Connection, project_id: int) -> None:
    project = existing_project(db, project_id)
    if not project.archived:
        document = edited_options(project.options_document, {"archived_for_deletion": True})
        db.update(projects, project.id, archived=True, options_document=document, updated_at=db.now)


def _unarchive(db: Connection, project_id: int) -> None:
    project = existing_project(db, project_id)
    if project.options.archived_for_deletion:
        document = edited_options(project.options_document, {"archived_for_deletion": False})
        db.update(projects, project.id, archived=False, options_document=document, updated_at=db.now)


def enqueue_due_projects(db: Connection) -> None:
    """Enqueue the deletion of projects whose period has ended."""
    days = all_settings(db).deletion_adjourned_period
    until = day_of(add_duration(db.now, days=-days))
    for project_id, document in db.rows(_MARKED):
        marked_on = project_options(document).marked_for_deletion_on
        if marked_on is not None and marked_on <= until:
            enqueue(db, DELETE_PROJECT, project_id, unique_key=f"{DELETE_PROJECT}:{project_id}")


def run_project_deletion(database: Database, project_id: int) -> None:
    """Delete a project whose deletion is due, unless it was restored."""

    def delete(db: Connection) -> None:
        db.lock(NAMESPACES)
        project = project_or_none(db, project_id)
        if project is not None and project.options.marked_for_deletion_on is not None:
            delete_project(db, project)

    database.write(delete)


def run_group_deletion(database: Database, group_id: int) -> None:
    """Delete a group whose deletion is due, unless it was restored."""
    database.write(lambda db: delete_scheduled_group(db, group_id))
