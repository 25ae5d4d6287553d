"""Response structs of placeholder users."""

from collections.abc import Sequence

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.import_export.placeholders.queries import confirmable_ids, managed_ids, namespace_paths
from ingot.import_export.tables import SourceUser


class SourceUserView(View):
    """User of a source, with the placeholder or the real user that has the contributions."""

    id: int
    source_hostname: str
    source_user_identifier: str
    source_name: str
    source_username: str
    namespace_id: int
    status: str
    placeholder: bool
    user: UserBrief | None
    reassign_to_user: UserBrief | None
    created_at: Timestamp
    # Whether the caller may assign the contributions to a user, and may take them over.
    managed: bool
    claimable: bool
    # Path of the namespace, which only its owners may know.
    namespace_path: str | None


class AssignmentMessage(View):
    """Result of an uploaded table."""

    message: str


def source_user_views(
    db: Connection, actor: Actor, source_users: Sequence[SourceUser], base: str
) -> list[SourceUserView]:
    """Return a page of source users."""
    numbers = [each.id for each in source_users]
    managed, claimable = managed_ids(db, actor, numbers), confirmable_ids(db, actor, numbers)
    ids = {number for each in source_users for number in (each.user_id, each.reassign_to_user_id)}
    people = user_briefs_by_ids(db, ids, base)
    paths = namespace_paths(db, [each.namespace_id for each in source_users if each.id in managed])
    return [
        SourceUserView(
            each.id,
            each.source_host,
            each.source_key,
            each.source_name,
            each.source_username,
            each.namespace_id,
            each.status,
            each.placeholder,
            people.get(each.user_id),
            people.get(each.reassign_to_user_id) if each.reassign_to_user_id else None,
            each.created_at,
            each.id in managed,
            each.placeholder and each.id in claimable,
            paths.get(each.namespace_id) if each.id in managed else None,
        )
        for each in source_users
    ]
