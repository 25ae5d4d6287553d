"""Permission to set up mirrors."""

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied


def require_mirrors_available(db: Connection, actor: Actor) -> None:
    """Raise Denied if only administrators may set up mirrors, and the caller is not one."""
    if not actor.admin and not all_settings(db).mirror_available:
        raise Denied("Only administrators may set up mirrors")
