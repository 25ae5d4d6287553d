"""Subscribers that remove deleted users from groups."""

from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.core.events.bus import Subscriptions
from ingot.projects.groups.queries import groups_with_sole_owner
from ingot.projects.groups.service import delete_group
from ingot.projects.namespaces.queries import namespace_or_none

subscriptions = Subscriptions()
_MAX_GROUPS_NAMED = 10


@subscriptions.on(UserDeleting)
def handle_groups_of_sole_owner(db: Connection, event: UserDeleting) -> None:
    """Delete the groups that only this user owns, if requested, or raise Conflict."""
    groups = groups_with_sole_owner(db, event.user_id)
    if groups and not event.hard:
        paths = ", ".join(group.full_path for group in groups[:_MAX_GROUPS_NAMED])
        more = ", ..." if len(groups) > _MAX_GROUPS_NAMED else ""
        raise Conflict(
            f"The user is the only owner of groups: {paths}{more}. Add another owner to these groups or delete them"
        )
    for group in groups:
        # A subgroup has already been deleted together with its parent.
        if namespace_or_none(db, str(group.id)) is not None:
            delete_group(db, group)
