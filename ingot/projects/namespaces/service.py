"""State changes of namespaces, which also maintain full paths, redirects and the hierarchy table."""

from typing import Any

from sqlalchemy import bindparam, delete, literal_column, select

from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.core.events.bus import emit
from ingot.core.names import NAMESPACES
from ingot.projects.namespaces.events import NamespaceDeleting, NamespaceMoved, NamespacePathRequested
from ingot.projects.namespaces.queries import ancestor_ids, namespace_by_id, namespace_by_path, subtree_of
from ingot.projects.namespaces.tables import Namespace, namespace_tree, namespaces, path_redirects

_DELETE_REDIRECT = delete(path_redirects).where(path_redirects.c.full_path_key == bindparam("path"))
MAX_OLD_PATHS = 3
_NEWEST_FIRST = (
    select(path_redirects.c.id)
    .where(path_redirects.c.namespace_id == bindparam("namespace"))
    .order_by(path_redirects.c.id.desc())
)
# Without this limit, a user who renames a namespace often would block all of its former paths for others.
_DELETE_OLDEST = delete(path_redirects).where(
    path_redirects.c.id.in_(_NEWEST_FIRST.offset(literal_column(str(MAX_OLD_PATHS))).scalar_subquery())
)
_REDIRECT = select(path_redirects.c.namespace_id).where(path_redirects.c.full_path_key == bindparam("path"))
_SAME_NAME = select(namespaces.c.id).where(
    namespaces.c.parent_id == bindparam("parent"), namespaces.c.name == bindparam("name")
)
_DELETE_TREE_LINKS = delete(namespace_tree).where(
    namespace_tree.c.descendant_id == bindparam("descendant"), namespace_tree.c.ancestor_id == bindparam("ancestor")
)


def require_available_path(db: Connection, full_path: str, except_id: int = 0) -> None:
    """Raise Conflict if the path belongs to another namespace or redirects to one that was moved."""
    existing = namespace_by_path(db, full_path)
    if existing is not None and existing.id != except_id:
        raise Conflict(path=["has already been taken"])
    _require_not_old_path(db, full_path, except_id)
    emit(db, NamespacePathRequested(full_path_key=full_path.lower()))


def is_beside_another(db: Connection, group: Namespace, name: str, path: str) -> bool:
    """Return whether another namespace or a project next to a group uses a name or path."""
    parent = namespace_by_id(db, group.parent_id) if group.parent_id is not None else None
    try:
        require_available_path(db, f"{parent.full_path}/{path}" if parent else path, group.id)
        _require_unique_name(db, name, parent, group.id)
    except Conflict:
        return True
    return False


def _require_not_old_path(db: Connection, full_path: str, except_id: int) -> None:
    """Raise Conflict if the path redirects to another namespace.

    A new owner of the path would otherwise receive requests that are meant for the moved namespace.
    """
    if db.value(_REDIRECT, path=full_path.lower()) not in (None, except_id):
        raise Conflict(path=["has already been taken"])


def release_old_path(db: Connection, full_path: str) -> None:
    """Delete the redirect from an old path so that the path can be used again."""
    db.run(_DELETE_REDIRECT, path=full_path.lower())


def _require_unique_name(db: Connection, name: str, parent: Namespace | None, except_id: int = 0) -> None:
    if parent is not None and db.value(_SAME_NAME, parent=parent.id, name=name) not in (None, except_id):
        raise Conflict(name=["has already been taken"])


def add_namespace(
    db: Connection, kind: str, name: str, path: str, parent: Namespace | None, **columns: Any
) -> Namespace:
    """Add a namespace below ``parent``, or at the top level; raise Conflict if its path or name is taken."""
    db.must_hold_part(NAMESPACES)
    full_path = f"{parent.full_path}/{path}" if parent else path
    require_available_path(db, full_path)
    _require_unique_name(db, name, parent)
    defaults = {
        "visibility": "private",
        "description": "",
        "lfs_enabled": True,
        "request_access_enabled": True,
        "share_with_group_lock": False,
        "created_at": db.now,
        "updated_at": db.now,
    }
    namespace_id = db.insert(
        namespaces,
        kind=kind,
        name=name,
        path=path,
        full_path=full_path,
        full_name=f"{parent.full_name} / {name}" if parent else name,
        parent_id=parent.id if parent else None,
        full_path_key=full_path.lower(),
        name_key=name.casefold(),
        **{**defaults, **columns},
    )
    ancestors = ancestor_ids(db, parent.id) if parent else []
    for ancestor_id in [*ancestors, namespace_id]:
        db.insert_row(namespace_tree, ancestor_id=ancestor_id, descendant_id=namespace_id)
    return namespace_by_id(db, namespace_id)


def rename_namespace(db: Connection, namespace: Namespace, name: str, path: str) -> Namespace:
    """Change the name or path of a namespace; old paths, also those of its descendants, become redirects."""
    parent = namespace_by_id(db, namespace.parent_id) if namespace.parent_id else None
    return _write_paths(db, namespace, name, path, parent)


def move_namespace(db: Connection, namespace: Namespace, parent: Namespace | None) -> Namespace:
    """Move a namespace and its descendants to another parent or to the top level."""
    db.must_hold(NAMESPACES)
    _require_unique_name(db, namespace.name, parent, except_id=namespace.id)
    old_ancestors = [each for each in ancestor_ids(db, namespace.id) if each != namespace.id]
    descendants = [each.id for each in subtree_of(db, namespace.id)]
    for descendant_id in descendants:
        for ancestor_id in old_ancestors:
            db.run(_DELETE_TREE_LINKS, descendant=descendant_id, ancestor=ancestor_id)
    for ancestor_id in ancestor_ids(db, parent.id) if parent else []:
        for descendant_id in descendants:
            db.insert_row(namespace_tree, ancestor_id=ancestor_id, descendant_id=descendant_id)
    db.update(namespaces, namespace.id, parent_id=parent.id if parent else None)
    return _write_paths(db, namespace, namespace.name, namespace.path, parent)


def delete_namespace(db: Connection, namespace: Namespace) -> None:
    """Delete a namespace and its descendants, the deepest first."""
    db.must_hold(NAMESPACES)
    for each in reversed(subtree_of(db, namespace.id)):
        emit(db, NamespaceDeleting(namespace_id=each.id))
        db.delete(namespaces, each.id)


def _write_paths(db: Connection, namespace: Namespace, name: str, path: str, parent: Namespace | None) -> Namespace:
    """Write the name and full path of a namespace, and the full paths of its descendants."""
    db.must_hold(NAMESPACES)
    full_path = f"{parent.full_path}/{path}" if parent else path
    full_name = f"{parent.full_name} / {name}" if parent else name
    require_available_path(db, full_path, except_id=namespace.id)
    _require_unique_name(db, name, parent, except_id=namespace.id)
    db.update(namespaces, namespace.id, name=name, path=path, name_key=name.casefold(), updated_at=db.now)
    for each in subtree_of(db, namespace.id):
        new_path = full_path + each.full_path[len(namespace.full_path) :]
        new_name = full_name + each.full_name[len(namespace.full_name) :]
        if new_path.lower() != each.full_path_key:
            _require_not_old_path(db, new_path, each.id)
            db.run(_DELETE_REDIRECT, path=new_path.lower())
            db.run(_DELETE_REDIRECT, path=each.full_path_key)
            db.insert_row(path_redirects, full_path_key=each.full_path_key, namespace_id=each.id)
            db.run(_DELETE_OLDEST, namespace=each.id)
        db.update(namespaces, each.id, full_path=new_path, full_path_key=new_path.lower(), full_name=new_name)
        emit(db, NamespaceMoved(namespace_id=each.id))
    return namespace_by_id(db, namespace.id)
