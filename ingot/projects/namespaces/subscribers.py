"""Subscribers that update personal namespaces when users change."""

from sqlalchemy import bindparam, select

from ingot.accounts.users.events import UserCreated, UserDeleting, UserRenamed
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.core.events.bus import Subscriptions
from ingot.projects.namespaces.service import add_namespace, delete_namespace, rename_namespace
from ingot.projects.namespaces.tables import Namespace, namespaces

subscriptions = Subscriptions()
_OF_USER = select(namespaces).where(namespaces.c.owner_id == bindparam("owner"))
_TAKEN = "Username has already been taken"


@subscriptions.on(UserCreated)
def create_user_namespace(db: Connection, event: UserCreated) -> None:
    """Create the personal namespace of a new user, with the username as its path."""
    try:
        add_namespace(db, "user", event.username, event.username, None, owner_id=event.user_id)
    except Conflict as error:
        raise Conflict(_TAKEN) from error


@subscriptions.on(UserRenamed)
def rename_user_namespace(db: Connection, event: UserRenamed) -> None:
    """Rename the personal namespace together with its user."""
    namespace = db.first(Namespace, _OF_USER, owner=event.user_id)
    if namespace is not None and namespace.path != event.username:
        try:
            rename_namespace(db, namespace, event.username, event.username)
        except Conflict as error:
            raise Conflict(_TAKEN) from error


@subscriptions.on(UserDeleting)
def delete_user_namespace(db: Connection, event: UserDeleting) -> None:
    """Delete the personal namespace of a deleted user, with its projects."""
    namespace = db.first(Namespace, _OF_USER, owner=event.user_id)
    if namespace is not None:
        delete_namespace(db, namespace)
