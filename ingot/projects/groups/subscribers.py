"""What groups do when users go."""

from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.errors import Conflict
from ingot.projects.groups.queries import groups_with_sole_owner
from ingot.projects.groups.service import delete_group
from ingot.projects.namespaces.queries import namespace_or_none

subscriptions = Subscriptions()
_MAX_GROUPS_NAMED = 10


@subscriptions.on(UserDeleting)
def handle_groups_of_sole_owner(db: Connection, event: UserDeleting) -> None:
    """No group stays behind without an owner: they go too where that was asked for, else the user stays."""
    alone = groups_with_sole_owner(db, event.user_id)
    if alone and not event.hard:
        named = ", ".join(group.full_path for group in alone[:_MAX_GROUPS_NAMED])
        more = ", ..." if len(alone) > _MAX_GROUPS_NAMED else ""
        raise Conflict(f"The user is the only owner of groups: {named}{more}. Give them another owner or delete them")
    for group in alone:
        # One that was in another of them is gone by now.
        if namespace_or_none(db, str(group.id)) is not None:
            delete_group(db, group)
