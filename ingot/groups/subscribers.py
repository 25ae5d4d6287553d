"""What namespaces do when users change."""

from sqlalchemy import bindparam, select

from ingot.db.connection import Connection
from ingot.errors import Conflict
from ingot.events.bus import Subscriptions
from ingot.groups.tables import Namespace, namespaces
from ingot.users.accounts.events import UserCreated, UserRenamed

subscriptions = Subscriptions()
_BY_PATH = select(namespaces).where(namespaces.c.full_path_key == bindparam("path"))
_OF_USER = select(namespaces).where(namespaces.c.owner_id == bindparam("owner"))


@subscriptions.on(UserCreated)
def give_namespace(db: Connection, event: UserCreated) -> None:
    """Every user has a namespace of the same path."""
    _refuse_taken(db, event.username, event.user_id)
    db.insert(
        namespaces,
        kind="user",
        name=event.username,
        path=event.username,
        full_path=event.username,
        owner_id=event.user_id,
        full_path_key=event.username.lower(),
        name_key=event.username.casefold(),
    )


@subscriptions.on(UserRenamed)
def rename_namespace(db: Connection, event: UserRenamed) -> None:
    """The namespace follows its user's name."""
    _refuse_taken(db, event.username, event.user_id)
    namespace = db.first(Namespace, _OF_USER, owner=event.user_id)
    if namespace is not None and namespace.path != event.username:
        db.update(
            namespaces,
            namespace.id,
            name=event.username,
            path=event.username,
            full_path=event.username,
            full_path_key=event.username.lower(),
            name_key=event.username.casefold(),
        )


def _refuse_taken(db: Connection, path: str, user_id: int) -> None:
    taken = db.first(Namespace, _BY_PATH, path=path.lower())
    if taken is not None and taken.owner_id != user_id:
        raise Conflict("Username has already been taken")
