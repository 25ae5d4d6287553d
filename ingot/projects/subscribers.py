"""What projects do when namespaces change and users go."""

from sqlalchemy import bindparam, update

from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid
from ingot.events.bus import Subscriptions
from ingot.groups.events import GroupVisibilityChanging, GroupVisibilityLowered
from ingot.groups.namespaces.events import NamespaceDeleting, NamespaceMoved, PathTaking
from ingot.groups.namespaces.queries import find_by_id, namespace_by_path
from ingot.projects.queries import more_open_below, project_id_by_path, projects_in
from ingot.projects.service import delete_project, drop_redirect, lower_visibility, more_open_than
from ingot.projects.tables import projects
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_HAND_OVER = (
    update(projects).where(projects.c.creator_id == bindparam("user")).values(creator_id=bindparam("placeholder"))
)


@subscriptions.on(NamespaceMoved)
def follow_namespace(db: Connection, event: NamespaceMoved) -> None:
    """The paths of projects follow the namespace around them."""
    namespace = find_by_id(db, event.namespace_id)
    for project in projects_in(db, namespace.id):
        full_path = f"{namespace.full_path}/{project.path}"
        if full_path != project.full_path:
            db.update(projects, project.id, full_path=full_path, full_path_key=full_path.lower())


@subscriptions.on(NamespaceDeleting)
def delete_with_namespace(db: Connection, event: NamespaceDeleting) -> None:
    """Projects go with the namespace around them."""
    for project in projects_in(db, event.namespace_id):
        delete_project(db, project)


@subscriptions.on(PathTaking)
def give_way_or_refuse(db: Connection, event: PathTaking) -> None:
    """A path that leads to a project cannot lead to a group; one that only did leads there no more."""
    if project_id_by_path(db, event.full_path_key) is not None:
        raise Conflict(path=["has already been taken"])
    around, _, last = event.full_path_key.rpartition("/")
    parent = namespace_by_path(db, around) if around else None
    if parent is not None:
        drop_redirect(db, parent, last)


@subscriptions.on(GroupVisibilityChanging)
def refuse_less_than_project(db: Connection, event: GroupVisibilityChanging) -> None:
    """A group cannot be less visible than a project in it."""
    more_open = more_open_than(event.visibility)
    if more_open and more_open_below(db, event.namespace_id, more_open):
        reason = f"{event.visibility} is not allowed since this group contains projects with higher visibility."
        raise Invalid(visibility_level=[reason])


@subscriptions.on(GroupVisibilityLowered)
def lower_with_group(db: Connection, event: GroupVisibilityLowered) -> None:
    """Projects become no more visible than the group that moved with them."""
    more_open = more_open_than(event.visibility)
    for project_id in more_open_below(db, event.namespace_id, more_open) if more_open else ():
        lower_visibility(db, project_id, event.visibility)


@subscriptions.on(UserDeleting)
def hand_over_projects(db: Connection, event: UserDeleting) -> None:
    """What somebody made and others keep was made by the placeholder."""
    db.run(_HAND_OVER, user=event.user_id, placeholder=event.placeholder_id)
