"""What groups do when users go."""

from ingot.db.connection import Connection
from ingot.errors import Conflict
from ingot.events.bus import Subscriptions
from ingot.groups.namespaces.queries import namespace_or_none
from ingot.groups.queries import groups_owned_alone
from ingot.groups.service import delete_group
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_MOST_NAMED = 10


@subscriptions.on(UserDeleting)
def keep_groups_owned(db: Connection, event: UserDeleting) -> None:
    """No group stays behind without an owner: they go too where that was asked for, else the user stays."""
    alone = groups_owned_alone(db, event.user_id)
    if alone and not event.hard:
        named = ", ".join(group.full_path for group in alone[:_MOST_NAMED])
        more = ", ..." if len(alone) > _MOST_NAMED else ""
        raise Conflict(f"The user is the only owner of groups: {named}{more}. Give them another owner or delete them")
    for group in alone:
        # One that was in another of them is gone by now.
        if namespace_or_none(db, str(group.id)) is not None:
            delete_group(db, group)
