"""Subscribers that update projects when namespaces and groups change or users are deleted."""

from sqlalchemy import bindparam, select, update

from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import enqueue
from ingot.projects.groups.events import (
    GroupDeletionScheduled,
    GroupRestored,
    GroupVisibilityLowered,
    SharedRunnersSwitched,
)
from ingot.projects.namespaces.events import NamespaceDeleting, NamespaceMoved, NamespacePathRequested
from ingot.projects.namespaces.queries import namespace_by_id, namespace_by_path
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.delayed_deletion import archive_projects_below, unarchive_projects_below
from ingot.projects.projects.queries import more_visible_projects, project_id_by_path_or_none, projects_in_namespace
from ingot.projects.projects.service import (
    REMOVE_REPOSITORY,
    delete_project,
    delete_redirect,
    lower_visibility,
    more_visible_than,
)
from ingot.projects.projects.tables import group_wikis, projects

subscriptions = Subscriptions()
_GROUP_WIKI = select(group_wikis.c.repository_key).where(group_wikis.c.group_id == bindparam("group"))
_SWITCH_RUNNERS = (
    update(projects)
    .where(
        projects.c.shared_runners_enabled.is_distinct_from(bindparam("enabled")),
        projects.c.namespace_id.in_(
            select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
        ),
    )
    .values(shared_runners_enabled=bindparam("enabled"))
)
_REASSIGN = (
    update(projects).where(projects.c.creator_id == bindparam("user")).values(creator_id=bindparam("placeholder"))
)


@subscriptions.on(NamespaceMoved)
def move_projects_with_namespace(db: Connection, event: NamespaceMoved) -> None:
    """Update the full paths of projects when their namespace is moved or renamed."""
    namespace = namespace_by_id(db, event.namespace_id)
    for project in projects_in_namespace(db, namespace.id):
        full_path = f"{namespace.full_path}/{project.path}"
        if full_path != project.full_path:
            db.update(projects, project.id, full_path=full_path, full_path_key=full_path.lower())


@subscriptions.on(NamespaceDeleting)
def delete_projects_of_namespace(db: Connection, event: NamespaceDeleting) -> None:
    """Delete the projects of a deleted namespace, and enqueue the removal of its wiki."""
    for project in projects_in_namespace(db, event.namespace_id):
        delete_project(db, project)
    key = db.value(_GROUP_WIKI, group=event.namespace_id)
    if key is not None:
        enqueue(db, REMOVE_REPOSITORY, {"repository_key": key})


@subscriptions.on(NamespacePathRequested)
def release_or_refuse_path(db: Connection, event: NamespacePathRequested) -> None:
    """Raise Conflict if a project has the requested path; delete a redirect from it."""
    if project_id_by_path_or_none(db, event.full_path_key) is not None:
        raise Conflict(path=["has already been taken"])
    parent_path, _, name = event.full_path_key.rpartition("/")
    parent = namespace_by_path(db, parent_path) if parent_path else None
    if parent is not None:
        delete_redirect(db, parent, name)


@subscriptions.on(GroupVisibilityLowered)
def lower_visibility_with_group(db: Connection, event: GroupVisibilityLowered) -> None:
    """Lower the visibility of projects to that of the transferred group."""
    more_open = more_visible_than(event.visibility)
    for project_id in more_visible_projects(db, event.namespace_id, more_open) if more_open else ():
        lower_visibility(db, project_id, event.visibility)


@subscriptions.on(SharedRunnersSwitched)
def switch_shared_runners(db: Connection, event: SharedRunnersSwitched) -> None:
    """Let the projects below a group use the runners of the instance, or no longer."""
    db.run(_SWITCH_RUNNERS, group=event.namespace_id, enabled=event.enabled)


@subscriptions.on(UserDeleting)
def reassign_projects(db: Connection, event: UserDeleting) -> None:
    """Make the placeholder user the creator of the projects that a deleted user created."""
    db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)


@subscriptions.on(GroupDeletionScheduled)
def make_read_only_with_group(db: Connection, event: GroupDeletionScheduled) -> None:
    """Make the projects below a group that is scheduled for deletion read-only."""
    archive_projects_below(db, event.namespace_id)


@subscriptions.on(GroupRestored)
def make_writable_with_group(db: Connection, event: GroupRestored) -> None:
    """Make the projects below a restored group writable again."""
    unarchive_projects_below(db, event.namespace_id)
