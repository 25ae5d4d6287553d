"""Results of endpoints, without what belongs to groups that are closed to the caller's address."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.core.errors import NotFound
from ingot.projects.namespaces.ip_restrictions import is_closed
from ingot.projects.namespaces.queries import actor_levels_in, groups_by_ids
from ingot.projects.projects.queries import paths_of_projects

T = TypeVar("T")


def omit_closed(db: Connection, actor: Actor, result: Any) -> Any:
    """Return the result of an endpoint; a page of a list becomes shorter by what is closed.

    Raises ``NotFound`` if a single result is closed: an endpoint without a subject in its path may return one.
    """
    if isinstance(result, Listing):
        return result.of(open_items(db, actor, result.items))
    if isinstance(result, list):
        return open_items(db, actor, result)
    if not open_items(db, actor, [result]):
        raise NotFound
    return result


def open_items(db: Connection, actor: Actor, items: Sequence[T]) -> list[T]:
    """Return those items that belong to no group that is closed to the caller."""
    if not actor.closed_groups:
        return list(items)
    projects = {each for each in (_number(item, "project_id") for item in items) if each}
    groups = {each for each in (_number(item, "group_id") for item in items) if each}
    project_paths = paths_of_projects(db, sorted(projects)) if projects else {}
    group_paths = _paths_of_groups(db, actor, groups) if groups else {}

    def path(item: T) -> str:
        of_project = project_paths.get(_number(item, "project_id"), "")
        return _path(item) or of_project or group_paths.get(_number(item, "group_id"), "")

    return [item for item in items if not is_closed(actor, path(item))]


def _paths_of_groups(db: Connection, actor: Actor, group_ids: Collection[int]) -> dict[int, str]:
    """Return the paths of groups, except those that the caller owns, which are open to owners from everywhere."""
    levels = actor_levels_in(db, actor, sorted(group_ids))
    groups = groups_by_ids(db, group_ids).values()
    return {group.id: group.full_path for group in groups if levels.get(group.id, 0) < Level.OWNER}


def _number(item: Any, name: str) -> int:
    number = getattr(item, name, None)
    return number if isinstance(number, int) else 0


def _path(item: Any) -> str | None:
    """Return the path of a project, or of the project of a todo."""
    for each in (item, getattr(item, "project", None)):
        path = getattr(each, "path_with_namespace", None)
        if isinstance(path, str):
            return path
    return None
