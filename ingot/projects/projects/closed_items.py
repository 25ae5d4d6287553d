"""Lists over several projects, without the items of groups that are closed to the caller's address."""

from collections.abc import Sequence
from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.projects.namespaces.ip_restrictions import is_closed
from ingot.projects.projects.queries import paths_of_projects


def omit_closed(db: Connection, actor: Actor, result: Any) -> Any:
    """Return the result of an endpoint; a page of a list becomes shorter by what is closed."""
    if isinstance(result, Listing):
        return result.of(_open_items(db, actor, result.items))
    return _open_items(db, actor, result) if isinstance(result, list) else result


def _open_items(db: Connection, actor: Actor, items: Sequence[Any]) -> list[Any]:
    ids = {each for each in map(_project_id, items) if each is not None}
    paths = paths_of_projects(db, sorted(ids)) if ids else {}
    return [item for item in items if not is_closed(actor, _path(item) or paths.get(_project_id(item) or 0, ""))]


def _project_id(item: Any) -> int | None:
    project_id = getattr(item, "project_id", None)
    return project_id if isinstance(project_id, int) else None


def _path(item: Any) -> str | None:
    """Return the path of a project, or of the project of a todo."""
    for each in (item, getattr(item, "project", None)):
        path = getattr(each, "path_with_namespace", None)
        if isinstance(path, str):
            return path
    return None
