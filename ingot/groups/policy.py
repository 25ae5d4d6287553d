"""Who may see which namespaces."""

from sqlalchemy import ColumnElement, bindparam

from ingot.access.actor import Actor
from ingot.groups.tables import Namespace, namespaces


def may_see_namespace(actor: Actor, namespace: Namespace) -> bool:
    """Their user, and administrators."""
    return actor.admin or namespace.owner_id == actor.user_id


def visible_namespaces() -> ColumnElement[bool]:
    """The same for a list; ``actor`` is bound to the caller who is no administrator."""
    return namespaces.c.owner_id == bindparam("actor")
