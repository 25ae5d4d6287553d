"""What projects do when namespaces change and users go."""

from sqlalchemy import bindparam, update

from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.errors import Conflict
from ingot.projects.groups.events import GroupVisibilityLowered
from ingot.projects.namespaces.events import NamespaceDeleting, NamespaceMoved, NamespacePathRequested
from ingot.projects.namespaces.queries import namespace_by_id, namespace_by_path
from ingot.projects.projects.queries import more_open_below, project_id_by_path_or_none, projects_in_namespace
from ingot.projects.projects.service import delete_project, delete_redirect, lower_visibility, more_visible_than
from ingot.projects.projects.tables import projects

subscriptions = Subscriptions()
_REASSIGN = (
    update(projects).where(projects.c.creator_id == bindparam("user")).values(creator_id=bindparam("placeholder"))
)


@subscriptions.on(NamespaceMoved)
def move_projects_with_namespace(db: Connection, event: NamespaceMoved) -> None:
    """The paths of projects follow the namespace around them."""
    namespace = namespace_by_id(db, event.namespace_id)
    for project in projects_in_namespace(db, namespace.id):
        full_path = f"{namespace.full_path}/{project.path}"
        if full_path != project.full_path:
            db.update(projects, project.id, full_path=full_path, full_path_key=full_path.lower())


@subscriptions.on(NamespaceDeleting)
def delete_projects_of_namespace(db: Connection, event: NamespaceDeleting) -> None:
    """Projects go with the namespace around them."""
    for project in projects_in_namespace(db, event.namespace_id):
        delete_project(db, project)


@subscriptions.on(NamespacePathRequested)
def release_or_refuse_path(db: Connection, event: NamespacePathRequested) -> None:
    """A path that leads to a project cannot lead to a group; one that only did leads there no more."""
    if project_id_by_path_or_none(db, event.full_path_key) is not None:
        raise Conflict(path=["has already been taken"])
    around, _, last = event.full_path_key.rpartition("/")
    parent = namespace_by_path(db, around) if around else None
    if parent is not None:
        delete_redirect(db, parent, last)


@subscriptions.on(GroupVisibilityLowered)
def lower_visibility_with_group(db: Connection, event: GroupVisibilityLowered) -> None:
    """Projects become no more visible than the group that moved with them."""
    more_open = more_visible_than(event.visibility)
    for project_id in more_open_below(db, event.namespace_id, more_open) if more_open else ():
        lower_visibility(db, project_id, event.visibility)


@subscriptions.on(UserDeleting)
def reassign_projects(db: Connection, event: UserDeleting) -> None:
    """What somebody made and others keep was made by the placeholder."""
    db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
