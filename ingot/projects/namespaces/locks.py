"""Parts of the lock of namespaces: one for each top-level namespace, by its path.

While a transaction holds a part, no namespace is moved or renamed, since that needs the whole lock. So the path of a
namespace tells which part belongs to it.
"""

from collections.abc import Callable

from sqlalchemy import bindparam, select

from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.tables import namespaces

_PATH_BY_ID = select(namespaces.c.full_path_key).where(namespaces.c.id == bindparam("namespace"))
_PATH_BY_OWNER = select(namespaces.c.full_path_key).where(namespaces.c.owner_id == bindparam("owner"))

PathById = Callable[[Connection, int], str | None]
"""Returns the full path of a namespace or project, or None if there is none."""


def namespace_path_by_id(db: Connection, namespace_id: int) -> str | None:
    """Return the full path of a namespace, or None."""
    path: str | None = db.value(_PATH_BY_ID, namespace=namespace_id)
    return path


def part_of(db: Connection, name: str, path_by_id: PathById = namespace_path_by_id) -> list[str]:
    """Return the part for the id or full path of a namespace or project; none if it does not exist."""
    number = number_or_none(name)
    path = name if number is None else path_by_id(db, number)
    return [] if path is None else [path.partition("/")[0].lower()]


def part_of_user(db: Connection, user_id: int) -> list[str]:
    """Return the part for the personal namespace of a user."""
    path: str | None = db.value(_PATH_BY_OWNER, owner=user_id)
    return [] if path is None else [path]
